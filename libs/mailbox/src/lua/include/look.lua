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
    if fields.look == request.id then return end
    if writeOff(name) then setAgent(name, 'tries', num(fields.tries) + 1) end
    return setAgent(name, 'look', request.id)
  end
  local spent = spentReason()
  if spent and not (name == 'lead' and isEnding()) then
    conclude(spent)
    if name ~= 'lead' then return setAgent(name, 'tail', 'idle') end
    moveMail(name, request.bytes)
  end
  bookReservation(name)
  setAgent(name, 'reserved', step, 'tries', 1, 'look', request.id)
end

-- Entries of the journal beyond those that a host holds. Less than 0: Redis has lost what the host has seen.
local function unseen(name, known)
  return redis.call('LLEN', key('memory', name)) - num(known)
end

-- The number, unless it is the one that goes without saying.
local function told(value, usual)
  if num(value) ~= usual then return num(value) end
end

-- request: known (journal entries that the host holds, which is the whole journal if `own` is there: how many of those that
-- this script appends it holds as well), bytes (of mail to move at most), id (of the request: the same one again is the
-- same try of a step). Returns what the next step depends on: a table, journal entries, their messages.
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

  local entries = request.own and {} or redis.call('LRANGE', key('memory', name), request.known, -1)
  local added = appended[name] or {}
  for i = (request.own or 0) + 1, #added do entries[#entries + 1] = added[i] end
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
      if name == 'lead' then states[task.to] = { agent(task.to).st, agent(task.to).tail } end
    end
  end
  local asked = {}
  for id, question in pairs(openQuestions()) do
    if question.st == 'open' and (question.to == name or question.from == name) then asked[id] = question end
  end
  -- What is empty, none or the first is not told.
  return {
    code = 'ok', n = num(fields.n), tail = fields.tail, work = hasWork(name), waitMs = waitMs > 0 and waitMs or nil,
    sessionCancel = told(session.cancel, 0), agentCancel = told(fields.cancel, 0), leave = fields.leave ~= '' and fields.leave or nil,
    run = runIsOn() and session.run or session.lastRun, final = isEnding() and session.final or nil, step = num(fields.step),
    tries = told(fields.tries, 1), calls = fields.calls ~= '[]' and fields.calls or nil, tasks = next(mine) and mine,
    questions = next(asked) and asked, states = next(states) and states,
  }, entries, messages
end
