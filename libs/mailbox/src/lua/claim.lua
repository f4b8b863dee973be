#!lua flags=allow-oom
-- Takes a scheduled agent for one activation; the same token again gets the same answer.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] host (name of process and machine)  ARGV[5] lease in ms
-- ARGV[6] bytes of mail to move at most, or '' for none
-- Replies [{code: 'ok' | 'stale', space, leadAgent, roster (JSON text), budgeted, instance? (JSON text), activate?}], and, if mail was asked for, what
--   `drain` replies
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
-- @include look
local name, fields = ARGV[1], agent(ARGV[1])
local isResent = fields.st == 'loaded' and fields.epoch == ARGV[2] and fields.token == ARGV[3]
if not isResent then
  if session.status ~= 'open' or fields.st ~= 'scheduled' or fields.epoch ~= ARGV[2] then
    return { cjson.encode({ code = 'stale' }) }
  end
  local loads = num(fields.loads)
  setAgent(name, 'st', 'loaded', 'token', ARGV[3], 'host', ARGV[4], 'did', 0, 'emitted', 0, 'leave', '', 'bye', '', 'loads', loads + 1)
  notDue(name, 'job')
  due(name, 'lease', now + num(ARGV[5]))
  if name ~= 'lead' then
    event('as', name, cjson.encode({ host = ARGV[4], epoch = num(ARGV[2]), reload = loads > 0 }))
  end
end
local reply = { code = 'ok', space = session.space, leadAgent = session.leadAgent, roster = session.roster,
  budgeted = session.budgeted }
-- Only names that the engine makes have these.
if string.find(name, '[#/]') then reply.instance = redis.call('HGET', key('instances'), name) or nil end
if ARGV[6] == '' then return { answer(reply) } end
local head, entries, messages = look(name, { known = 0, bytes = num(ARGV[6]), id = ARGV[3] })
return { answer(reply), cjson.encode(head), entries, messages }
