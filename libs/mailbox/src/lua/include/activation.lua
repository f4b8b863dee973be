-- The one predicate of what an agent has to do, and the state changes of an activation.
local tasks
local questions

local function loadRecords(kind)
  local records = hgetall(key(kind))
  for id, text in pairs(records) do records[id] = cjson.decode(text) end
  return records
end

local function openTasks()
  tasks = tasks or loadRecords('tasks')
  return tasks
end

-- Most sessions never ask anything: `asked` is 0 until one does.
local function openQuestions()
  questions = questions or (session.asked == '0' and {} or loadRecords('questions'))
  return questions
end

-- Ids of a table of records for which `matches` holds, oldest first.
local function pick(records, matches)
  local ids = {}
  for id, record in pairs(records) do
    if matches(record, id) then ids[#ids + 1] = id end
  end
  table.sort(ids, function(a, b)
    if records[a].no ~= records[b].no then return records[a].no < records[b].no end
    return a < b
  end)
  return ids
end

local function tasksOf(name)
  return pick(openTasks(), function(task) return task.to == name end)
end

local function hasWork(name)
  if session.status ~= 'open' then return false end
  local fields = agent(name)
  -- All that is open of its last answer are calls of colleagues; other mail waits for them.
  if fields.tail == 'handoff' then return false end
  if name == 'lead' then
    if not runIsOn() then return false end
    if fields.tail ~= 'idle' then return true end
    if num(fields.wake) == 0 then return false end
    return session.wakeOn ~= 'all' or num(fields.urgent) > 0 or next(openTasks()) == nil
  end
  return fields.tail ~= 'idle' or num(fields.wake) > 0
end

local function activate(name)
  local epoch = num(agent(name).epoch) + 1
  setAgent(name, 'st', 'scheduled', 'epoch', epoch, 'since', now)
  due(name, 'job', now + num(session.jobMs))
  activations[#activations + 1] = { name, epoch }
end

-- Tells a loaded agent that it has mail; loads an unloaded one that has work.
local function wake(name)
  local state = agent(name).st
  if state == 'loaded' then
    wakes[name] = wakes[name] or '+'
  elseif state == 'unloaded' and hasWork(name) then
    activate(name)
  end
end

-- 'ok', or why a write of the activation (epoch, token) is refused whole.
local function fence(name, epoch, token)
  local fields = agent(name)
  if session.status ~= 'open' then return 'closed' end
  if fields.st ~= 'loaded' or fields.epoch ~= epoch or fields.token ~= token then return 'lost' end
  return 'ok'
end

local function isCancelled(name, sessionCancel, agentCancel)
  return num(session.cancel) ~= num(sessionCancel) or num(agent(name).cancel) ~= num(agentCancel)
end
