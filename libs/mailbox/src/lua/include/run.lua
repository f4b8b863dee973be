-- How runs wait, conclude and settle; how work is cancelled; how nobody waits for ever.
local NO_ANSWER = 'No answer came. Proceed on a stated assumption.'

local function setRunStatus(status)
  local before = session.runStatus
  if before == status then return end
  setSession('runStatus', status)
  change(key('run', session.run), 'status', status)
  event('rs', 'lead', cjson.encode({ status = status }))
  if status == 'waiting' then
    due('lead', 'wait', now + num(session.waitBudgetMs))
  elseif before == 'waiting' then
    notDue('lead', 'wait')
  end
end

-- Closes every open tool call, so that no history is ever invalid for a provider.
local function closeCalls(name, outcome)
  for _, call in ipairs(cjson.decode(agent(name).calls or '[]')) do
    remember(name, cjson.encode({ kind = 'tool', callId = call, content = outcome, error = true }))
    event('tr', name, cjson.encode({ toolCallId = call, outcome = outcome, error = true }))
  end
  setAgent(name, 'calls', '[]')
  dismiss(name)
end

-- Answers what peers asked an agent that will not do it (R10).
local function answerPeers(name)
  for _, id in ipairs(pick(openQuestions(), function(q) return q.st == 'open' and q.to == name and name ~= 'lead' end)) do
    engineReply(id, NO_ANSWER)
  end
end

-- Moves all mail to the journal without a model call; aborts what the agent does.
function silence(name, why)
  local fields = agent(name)
  closeCalls(name, 'cancelled')
  local mail = redis.call('LRANGE', key('mailbox', name), 0, -1)
  if #mail > 0 then
    local ids = {}
    for i, entry in ipairs(mail) do ids[i] = string.sub(entry, 2) end
    remember(name, cjson.encode({ kind = 'mail', ids = ids }))
  end
  if #mail > 0 or fields.tail ~= 'idle' then
    remember(name, cjson.encode({ kind = 'engine', code = 'cancelled', text = 'What is unfinished above was cancelled. Do not go on with it.' }))
  end
  writeOff(name)
  setAgent(name, 'cancel', num(fields.cancel) + 1, 'tail', 'idle', 'wake', 0, 'urgent', 0, 'reserved', 0)
  redis.call('DEL', key('mailbox', name))
  if why == 'shutdown' then
    for _, id in ipairs(tasksOf(name)) do engineResult(id, 'cancelled', contentOf('Shut down by the lead.')) end
  end
  closeQuestions(name, nil, true)
  answerPeers(name)
  if fields.st == 'scheduled' then
    setAgent(name, 'st', 'unloaded')
    notDue(name, 'job')
  elseif fields.st == 'loaded' then
    if name ~= 'lead' then setAgent(name, 'leave', why) end
    wakes[name] = '!'
  end
  retire(name)
end

-- Stops the whole team and cancels all open tasks; `mute` results are stored but wake nobody.
local function cancelTeam(text, mute)
  local busy = {}
  for _, name in ipairs(members()) do
    if name ~= 'lead' then
      closeQuestions(name, nil, true)
      local state = agent(name).st
      busy[name] = state == 'loaded' or state == 'scheduled' or hasWork(name) or #tasksOf(name) > 0
    end
  end
  for _, id in ipairs(pick(openTasks(), function() return true end)) do engineResult(id, 'cancelled', contentOf(text), mute) end
  for _, name in ipairs(members()) do
    if busy[name] then silence(name, 'cancelled') end
  end
end

-- Ends the run. `body` is the JSON object text {"text": …}.
local function settleRun(status, reason, body)
  local record = { status = status, reason = reason, answer = body, endedAt = now }
  for _, field in ipairs(SUMS) do record[field] = sumOf('run', field) end
  for field, value in pairs(record) do change(key('run', session.run), field, value) end
  local head = { status = status, reason = reason ~= '' and reason or nil }
  event('rs', 'lead', cjson.encode(head))
  event('done', 'lead', splice(head, body))
  for _, id in ipairs(pick(openQuestions(), function(q) return q.to == 'lead' end)) do
    questions[id] = nil
    redis.call('HDEL', key('questions'), id)
  end
  notDue('lead', 'wait')
  settledRun = session.run
  setSession('lastRun', session.run)
  setSession('run', '')
  setSession('runStatus', '')
  setSession('final', '')
  setSession('quiet', 0)
end

-- Cancels what is open and lets the lead make one last step without tools (R12, R15, R21).
local function conclude(reason)
  if isEnding() or not runIsOn() then return end
  local texts = {
    max_steps = 'Cancelled: the run reached its step limit.',
    budget_calls = 'Cancelled: the session has spent its model calls.',
    budget_tokens = 'Cancelled: the session has spent its tokens.',
    budget_cost = 'Cancelled: the session has spent its money.',
    run_budget_calls = 'Cancelled: the run has spent its model calls.',
    run_budget_tokens = 'Cancelled: the run has spent its tokens.',
    run_budget_cost = 'Cancelled: the run has spent its money.',
    quiescent = 'Cancelled: the run waited and nobody was working.',
    wait_budget = 'Cancelled: nothing happened in the run for too long.',
  }
  setSession('final', reason)
  cancelTeam(texts[reason], false)
  if agent('lead').tail == 'idle' then setAgent('lead', 'tail', 'model') end
  wake('lead')
end

-- A question that the lead parks over twice is answered by the engine (R15).
local function countIgnored()
  for _, id in ipairs(pick(openQuestions(), function(q) return q.st == 'open' and q.to == 'lead' and q.read end)) do
    local question = questions[id]
    if question then
      question.ignored = question.ignored + 1
      redis.call('HSET', key('questions'), id, cjson.encode(question))
      if question.ignored >= 2 then engineReply(id, NO_ANSWER) end
    end
  end
end

local function isBusy(name)
  local state = agent(name).st
  return name ~= 'lead' and (state == 'scheduled' or state == 'loaded' or hasWork(name))
end

-- A lead that hangs on calls reads no notice: those of its colleagues that wait for mail, which cannot come, are helped out.
local function endStalled(caller)
  local _, handed = callsOf(caller)
  for _, id in pairs(handed) do
    local h = openHandoffs()[id] and runningOf(handoffs[id].to)
    if h and agent(h.to).tail == 'handoff' then
      endStalled(h.to)
    elseif h then
      local asked = pick(openQuestions(), function(q) return q.st == 'open' and q.from == h.to end)
      if asked[1] then
        engineReply(asked[1], NO_ANSWER)
      else
        engineResult(h.task, 'failed', contentOf(h.to .. ' stopped without a report: it waits for mail, and none is on its way.'))
      end
    end
  end
end

-- The script that makes a session quiet tells the lead once; the next time it concludes the run (R15).
local function checkQuiescence()
  if session.status ~= 'open' or not runIsOn() or session.runStatus ~= 'waiting' then return end
  -- Those that were read already tell first.
  for name in pairs(agents) do
    if isBusy(name) then return end
  end
  if hasWork('lead') then return end
  for _, name in ipairs(members()) do
    if isBusy(name) then return end
  end
  if agent('lead').tail == 'handoff' then return endStalled('lead') end
  if num(session.quiet) > 0 then return conclude('quiescent') end
  local text = 'Nobody of the team is working and no message is on its way. Open tasks and questions are in the table of '
    .. 'facts: answer the questions, ask again, or write your answer from what you have.'
  setSession('quiet', 1)
  setSession('notices', num(session.notices) + 1)
  deliver({ id = derivedId('notice', session.notices), from = 'system', to = 'lead', type = 'notice',
    body = contentOf(text), engine = true })
end

-- Unloads an agent. Questions of peers that it never answered get an answer.
local function leave(name, reason)
  local fields = agent(name)
  answerPeers(name)
  if name ~= 'lead' then
    event('ax', name, cjson.encode({ host = fields.host, epoch = num(fields.epoch), reason = reason }))
  end
  setAgent(name, 'st', 'unloaded', 'leave', '')
  notDue(name, 'lease')
  retire(name)
end

-- A strike is an activation that had work and committed nothing; five in a row make an agent dead.
local function strike(name)
  local fields = agent(name)
  if num(fields.did) == 1 then return false end
  setAgent(name, 'strikes', num(fields.strikes) + 1)
  if num(fields.strikes) < num(session.strikes) then return false end
  local text = 'The agent ended ' .. fields.strikes .. ' times in a row without doing anything and is taken out of service.'
  closeCalls(name, 'The outcome of this call is unknown.')
  for _, id in ipairs(tasksOf(name)) do engineResult(id, 'failed', contentOf(text), false, 'agent_dead') end
  closeQuestions(name, nil, true)
  answerPeers(name)
  local mail = redis.call('LRANGE', key('mailbox', name), 0, -1)
  for _, entry in ipairs(mail) do bury(string.sub(entry, 2), name, 'agent_dead') end
  writeOff(name)
  setAgent(name, 'st', 'dead', 'tail', 'idle', 'wake', 0, 'urgent', 0, 'reserved', 0)
  redis.call('DEL', key('mailbox', name))
  if name == 'lead' and runIsOn() then
    cancelTeam('Cancelled: the lead failed.', true)
    settleRun('failed', 'lead_dead', cjson.encode({ text = text }))
  end
  -- As any other task, the next call of a dead agent gives it another chance.
  startNext(name)
  retire(name)
  return true
end

-- Takes a loaded agent off its host: scheduled again when it has work, else unloaded.
local function handOver(name, reason, isFailure)
  if not hasWork(name) then return leave(name, reason) end
  local fields = agent(name)
  if name ~= 'lead' then
    event('ax', name, cjson.encode({ host = fields.host, epoch = num(fields.epoch), reason = reason }))
  end
  notDue(name, 'lease')
  if not (isFailure and strike(name)) then activate(name) end
end
