#!lua
-- Creates a session; the same id again changes nothing.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] space  ARGV[2] lead's agent id  ARGV[3] roster (JSON [{as, agent}])  ARGV[4] metadata (JSON)
-- ARGV[5] fingerprint of the request  ARGV[6] settings (JSON object of numbers and words)
-- Replies {code: 'ok', status, fingerprint of the request that created it}
-- @include session
if session.status then return cjson.encode({ code = 'ok', status = session.status, fingerprint = session.fingerprint }) end
for field, value in pairs(cjson.decode(ARGV[6])) do setSession(field, value) end
for field, value in pairs({ status = 'open', space = ARGV[1], leadAgent = ARGV[2], roster = ARGV[3], metadata = ARGV[4],
  fingerprint = ARGV[5], createdAt = now, cancel = 0, asked = 0, run = '', runStatus = '', final = '' }) do
  setSession(field, value)
end
writeChanges()
return cjson.encode({ code = 'ok', status = 'open', fingerprint = ARGV[5] })
