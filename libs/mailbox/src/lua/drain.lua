#!lua flags=allow-oom
-- Moves mail into the journal, reserves the model call that it makes necessary, and returns the journal from an index
-- on. Running it twice moves and reserves once, and returns the same entries.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] journal entries that the host already holds
-- ARGV[5] bytes of mail to move at most  ARGV[6] id of the request: the same one again is the same try of a step
-- Replies [{code: 'ok' | 'lost' | 'closed', n, tail, work, waitMs?, sessionCancel, agentCancel, leave?, run?, final?, step, tries,
--   calls, tasks: {id: record}, questions: {id: record}, states: {agent: [state, tail]}, activate?}, [entry…], [message…]]
-- @include session
-- @include outbox
-- @include activation
-- @include deliver
-- @include run
local name, fields = ARGV[1], agent(ARGV[1])
local fenced = fence(name, ARGV[2], ARGV[3])
if fenced ~= 'ok' then return { cjson.encode({ code = fenced }), {}, {} } end

-- Mail for a waiting lead is taken together while other tasks are open (R14).
local function windowLeft()
  if name ~= 'lead' or fields.tail ~= 'idle' or session.runStatus ~= 'waiting' or next(openTasks()) == nil then return 0 end
  return num(fields.wakeAt) + num(session.windowMs) - now
end

-- Marks what the message is about as read; says whether it asks for a model call.
local function take(flag, about)
  if about.type == 'clarify' and openQuestions()[about.id] then
    questions[about.id].read = true
    redis.call('HSET', key('questions'), about.id, cjson.encode(questions[about.id]))
  end
  if about.from ~= 'user' and (about.type == 'task' or about.type == 'revision') then
    local task = openTasks()[about.root]
    if not task then return false end
    task.read = true
    redis.call('HSET', key('tasks'), about.root, cjson.encode(task))
  end
  return flag == 'u' or flag == 'w'
end

local function moveMail()
  local mail = redis.call('LRANGE', key('mailbox', name), 0, -1)
  local ids, bytes, wakes, urgent, wanted = {}, 0, 0, 0, false
  for _, entry in ipairs(mail) do
    local flag, about = string.sub(entry, 1, 1), ledger(string.sub(entry, 2))
    bytes = bytes + redis.call('HSTRLEN', key('ledger'), about.id)
    if #ids > 0 and bytes > num(ARGV[5]) then break end
    ids[#ids + 1] = about.id
    if flag == 'u' or flag == 'w' then wakes = wakes + 1 end
    if flag == 'u' then urgent = urgent + 1 end
    if take(flag, about) then wanted = true end
  end
  if #ids == 0 then return end
  remember(name, cjson.encode({ kind = 'mail', ids = ids }))
  setAgent(name, 'wake', num(fields.wake) - wakes, 'urgent', num(fields.urgent) - urgent, 'wakeAt', now,
    'tail', (wanted or fields.tail == 'model') and 'model' or 'idle', 'leave', not wanted and fields.leave or '')
  redis.call('LTRIM', key('mailbox', name), #ids, -1)
end

-- One model call per step, counted before it is made (R21). A step that is tried again is not counted again.
local function reserve()
  local step = num(fields.step) + 1
  if num(fields.reserved) == step then
    if fields.look ~= ARGV[6] then setAgent(name, 'tries', num(fields.tries) + 1, 'look', ARGV[6]) end
    return
  end
  if num(session.calls) >= num(session.callLimit) and not (name == 'lead' and isEnding()) then
    conclude('budget_calls')
    if name ~= 'lead' then return setAgent(name, 'tail', 'idle') end
    moveMail()
  end
  setSession('calls', num(session.calls) + 1)
  setAgent(name, 'reserved', step, 'tries', 1, 'look', ARGV[6])
end

local waitMs = 0
if fields.tail ~= 'tools' and hasWork(name) then
  waitMs = windowLeft()
  if waitMs <= 0 then
    moveMail()
    if fields.tail == 'model' then
      if name == 'lead' then setRunStatus('running') end
      reserve()
    end
  end
end

local entries = redis.call('LRANGE', key('memory', name), num(ARGV[4]), -1)
local ids = {}
for _, entry in ipairs(entries) do
  if string.find(entry, '"kind":"mail"', 1, true) then
    local block = cjson.decode(entry)
    if block.kind == 'mail' then
      for _, id in ipairs(block.ids) do ids[#ids + 1] = id end
    end
  end
end
local messages = {}
for i = 1, #ids, 1000 do
  for _, stored in ipairs(redis.call('HMGET', key('ledger'), unpack(ids, i, math.min(i + 999, #ids)))) do
    messages[#messages + 1] = string.sub(stored, string.find(stored, '\n', 1, true) + 1)
  end
end

local mine, states = {}, {}
for id, task in pairs(openTasks()) do
  if name == 'lead' or task.to == name then
    mine[id] = task
    states[task.to] = { agent(task.to).st, agent(task.to).tail }
  end
end
local asked = {}
for id, question in pairs(openQuestions()) do
  if question.st == 'open' and (question.to == name or question.from == name) then asked[id] = question end
end
return {
  answer({
    code = 'ok', n = num(fields.n), tail = fields.tail, work = hasWork(name), waitMs = waitMs > 0 and waitMs or nil,
    sessionCancel = num(session.cancel), agentCancel = num(fields.cancel), leave = fields.leave,
    run = runIsOn() and session.run or session.lastRun, final = session.final, step = num(fields.step), tries = num(fields.tries), calls = fields.calls,
    tasks = mine, questions = asked, states = states,
  }),
  entries, messages,
}
