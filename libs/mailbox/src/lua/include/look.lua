-- One look of an agent into its mailbox: what a drain does, and a commit or a claim in the same script.
-- Mail for a waiting lead is taken together while other tasks are open (R14).
local function windowLeft(name)
  local fields = agent(name)
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

-- Stored messages that were read in this script, by id.
local read = {}

-- `limit`: bytes at most; drains repeat.
local function moveMail(name, limit)
  local fields = agent(name)
  local mail = redis.call('LRANGE', key('mailbox', name), 0, -1)
  local ids, bytes, wakes, urgent, wanted = {}, 0, 0, 0, false
  for _, entry in ipairs(mail) do
    local flag, about = string.sub(entry, 1, 1), ledger(string.sub(entry, 2))
    bytes = bytes + #about.stored
    read[about.id] = about.stored
    if #ids > 0 and bytes > limit then break end
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
local function reserve(name, request)
  local fields = agent(name)
  local step = num(fields.step) + 1
  if num(fields.reserved) == step then
    if fields.look ~= request.id then setAgent(name, 'tries', num(fields.tries) + 1, 'look', request.id) end
    return
  end
  if num(session.calls) >= num(session.callLimit) and not (name == 'lead' and isEnding()) then
    conclude('budget_calls')
    if name ~= 'lead' then return setAgent(name, 'tail', 'idle') end
    moveMail(name, request.bytes)
  end
  setSession('calls', num(session.calls) + 1)
  setAgent(name, 'reserved', step, 'tries', 1, 'look', request.id)
end

-- Whether a host holds more of the journal than there is: Redis has lost what the host has seen.
local function isAhead(name, known)
  return redis.call('LLEN', key('memory', name)) < num(known)
end

-- request: known (journal entries that the host holds), bytes (of mail to move at most), id (of the request: the same one
-- again is the same try of a step). Returns what the next step depends on: a table, journal entries, their messages.
local function look(name, request)
  local fields = agent(name)
  local waitMs = 0
  if fields.tail ~= 'tools' and hasWork(name) then
    waitMs = windowLeft(name)
    if waitMs <= 0 then
      moveMail(name, request.bytes)
      if fields.tail == 'model' then
        if name == 'lead' then setRunStatus('running') end
        reserve(name, request)
      end
    end
  end

  local entries = redis.call('LRANGE', key('memory', name), request.known, -1)
  local ids = {}
  for _, entry in ipairs(entries) do
    if string.find(entry, '"kind":"mail"', 1, true) or string.find(entry, '"kind":"handoff"', 1, true) then
      local block = cjson.decode(entry)
      if block.kind == 'mail' or block.kind == 'handoff' then
        for _, id in ipairs(block.ids) do ids[#ids + 1] = id end
      end
    end
  end
  local messages = {}
  for i, id in ipairs(ids) do
    local stored = read[id] or redis.call('HGET', key('ledger'), id)
    messages[i] = string.sub(stored, string.find(stored, '\n', 1, true) + 1)
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
    code = 'ok', n = num(fields.n), tail = fields.tail, work = hasWork(name), waitMs = waitMs > 0 and waitMs or nil,
    sessionCancel = num(session.cancel), agentCancel = num(fields.cancel), leave = fields.leave,
    run = runIsOn() and session.run or session.lastRun, final = session.final, step = num(fields.step),
    tries = num(fields.tries), calls = fields.calls, tasks = mine, questions = asked, states = states,
  }, entries, messages
end
