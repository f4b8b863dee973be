-- Delegation as a tool: the call of a colleague is an open tool call of its caller until the task that it sent has ended;
-- the script that ends the task writes the call's result. A retry is one more task, sent by the script that saw the failure.
local handoffs
local CANCELLED_CALL = 'Cancelled with the call.'

local function openHandoffs()
  handoffs = handoffs or loadRecords('handoffs')
  return handoffs
end

local function keepHandoff(id)
  redis.call('HSET', key('handoffs'), id, cjson.encode(handoffs[id]))
end

local function dropHandoff(id)
  handoffs[id] = nil
  redis.call('HDEL', key('handoffs'), id)
end

-- What is open of an agent's last answer: ids of calls of its tools; handoff by id of the call.
local function callsOf(name)
  local fields = agent(name)
  return cjson.decode(fields.calls or '[]'), cjson.decode(fields.handed or '{}')
end

local function setCalls(name, calls, handed)
  setAgent(name, 'calls', #calls > 0 and cjson.encode(calls) or '[]', 'handed', cjson.encode(handed),
    'tail', #calls > 0 and 'tools' or next(handed) and 'handoff' or 'model')
end

-- `fallback`: the call stays open, for a tool of the caller's own.
local function endCall(h, outcome)
  local calls, handed = callsOf(h.caller)
  handed[h.callId] = nil
  if outcome == 'fallback' then
    calls[#calls + 1] = h.callId
  else
    local isError = outcome ~= 'completed' and outcome ~= 'asked'
    event('tr', h.caller, cjson.encode({ toolCallId = h.callId, name = h.answered and 'answer_question' or h.tool, outcome = outcome, error = isError or nil }))
  end
  setCalls(h.caller, calls, handed)
  wake(h.caller)
end

local function handoffEvent(code, h, id, more, body)
  local data = { handoffId = id, callId = h.call, tool = h.tool, to = h.to, depth = h.depth, sessionMode = h.mode }
  for field, value in pairs(more) do data[field] = value end
  event(code, h.caller, splice(data, body or '{}'))
end

local function setLive(names)
  setSession('live', #names > 0 and cjson.encode(names) or '')
  memberNames = nil
end

-- An instance is a member from its first task until it has left with nothing to do.
local function enlist(h)
  redis.call('HSET', key('instances'), h.to, cjson.encode({
    agent = h.agent, caller = h.caller, depth = h.depth, maxDepth = h.maxDepth, mode = h.mode,
  }))
  local names = liveInstances()
  names[#names + 1] = h.to
  setLive(names)
end

-- Its own callees report to it as long as they have tasks of it.
local function retire(name)
  local state = agent(name).st
  if state == 'loaded' or state == 'scheduled' then return end
  if #pick(openTasks(), function(task) return task.to == name or task.from == name end) > 0 then return end
  local rest, isLive = {}, false
  for _, live in ipairs(liveInstances()) do
    if live == name then isLive = true else rest[#rest + 1] = live end
  end
  if isLive then setLive(rest) end
end

local function startAttempt(id)
  local h = handoffs[id]
  h.attempt = h.attempt + 1
  h.task = derivedId('attempt', id, h.attempt)
  h.step0 = num(agent(h.to).step)
  keepHandoff(id)
  deliver({ id = h.task, from = h.caller, to = h.to, type = 'task', body = h.body, engine = true, handoff = id, depth = h.depth })
  if h.timeoutMs > 0 then alarm(h.to, 'handoff', h.timeoutMs) end
end

-- The handoff that an agent works on.
local function runningOf(name)
  return openHandoffs()[pick(openHandoffs(), function(h) return h.to == name and h.task end)[1]]
end

local function queueOf(name)
  return pick(openHandoffs(), function(h) return h.to == name and not h.task end)
end

-- Ends the calls that wait for their turn with one agent.
local function dropQueue(name, errorType, text)
  for _, id in ipairs(queueOf(name)) do
    local h = handoffs[id]
    dropHandoff(id)
    handoffEvent('he', h, id, { status = 'failed', attempts = 0, durationMs = now - h.at }, contentOf(text))
    remember(h.caller, cjson.encode({ kind = 'tool', callId = h.callId, error = true,
      content = cjson.encode({ errorType = errorType, error = text, tool = h.tool, callId = h.callId }) }))
    endCall(h, 'failed')
  end
end

-- Who asked its caller goes on only with the answer, and the caller answers only when no call is open.
local function dropBehindQuestion(name)
  local h = runningOf(name)
  if not h or h.callId ~= '' then return end
  if #pick(openQuestions(), function(q) return q.st == 'open' and q.from == name and q.to == h.caller end) == 0 then return end
  dropQueue(name, 'handoff_failed', 'Not begun: ' .. name .. ' asked a question first. Answer it, then call again.')
end

-- The next call of an agent that takes one after the other.
local function startNext(name)
  if isEnding() then return dropQueue(name, 'handoff_cancelled', CANCELLED_CALL) end
  local id = queueOf(name)[1]
  if id then startAttempt(id) end
end

-- A colleague works for its caller alone: what an agent has called ends with the agent's own work.
local function dismiss(name)
  for _, id in ipairs(pick(openHandoffs(), function(h) return h.caller == name end)) do
    local h = handoffs[id]
    if h and h.task then
      engineResult(h.task, 'cancelled', contentOf(CANCELLED_CALL), h.callId == '')
      silence(h.to, 'cancelled')
    end
  end
end

-- request: id, callId, tool, to, agent, mode, depth, maxDepth, max (attempts), timeoutMs, fallback.
local function openHandoff(caller, request, body)
  if isEnding() then return 'run_ending' end
  local id, h = request.id, request
  h.id, h.caller, h.call, h.body, h.at, h.no, h.attempt, h.rounds = nil, caller, h.callId, body, now, count(), 0, 0
  local isBusy = #pick(openHandoffs(), function(other) return other.to == h.to end) > 0
  handoffs[id] = h
  if not isMember(h.to) then enlist(h) end
  handoffEvent('hs', h, id, { status = 'starting' })
  setSession('quiet', 0)
  if isBusy then keepHandoff(id) else startAttempt(id) end
  return 'ok'
end

-- The terminal result of a handoff's task; false when no call waits for it, so that it is ordinary mail.
function takeResult(m, id)
  local h = openHandoffs()[id]
  if not h then return false end
  if h.timeoutMs > 0 then notDue(h.to, 'handoff') end
  if #tasksOf(h.to) == 0 then dismiss(h.to) end
  local isDone = m.status == 'ok' or m.status == 'partial'
  if not isDone and m.status ~= 'cancelled' and not m.code and h.attempt < h.max and not isEnding() then
    remember(h.caller, cjson.encode({ kind = 'attempt', callId = h.callId, attempt = h.attempt, ids = { m.id } }))
    startAttempt(id)
    return true
  end
  dropHandoff(id)
  local outcome = isDone and 'completed' or m.code == 'handoff_denied' and 'denied'
    or h.fallback and h.callId ~= '' and m.status ~= 'cancelled' and 'fallback' or 'failed'
  handoffEvent('he', h, id, { status = outcome, attempts = h.attempt, durationMs = now - h.at }, m.body)
  if h.callId ~= '' then
    remember(h.caller, cjson.encode({ kind = 'handoff', callId = h.callId, outcome = outcome, tool = h.tool, to = h.to,
      ids = { m.id }, attempts = h.attempt, steps = num(agent(h.to).step) - h.step0 }))
    endCall(h, outcome)
  end
  if m.status == 'cancelled' or m.code == 'handoff_denied' then
    dropQueue(h.to, 'handoff_cancelled', CANCELLED_CALL)
  elseif m.code ~= 'agent_dead' then
    startNext(h.to)
  end
  retire(h.to)
  retire(h.caller)
  return h.callId ~= ''
end

-- A question to the caller is the interim result of its call; the answer opens another call for the same handoff.
-- False when no call waits, so that the question is ordinary mail.
function takeQuestion(m, id)
  local h = openHandoffs()[id]
  if not h or m.to ~= h.caller then return false end
  h.rounds = h.rounds + 1
  local isTaken = true
  if h.rounds > num(session.rounds) then
    remember(h.caller, cjson.encode({ kind = 'attempt', callId = h.callId, attempt = h.attempt, ids = { m.id } }))
    engineReply(m.id, 'No further question is answered in this call. Proceed on a stated assumption.')
  elseif h.callId ~= '' then
    questions[m.id].read = true
    redis.call('HSET', key('questions'), m.id, cjson.encode(questions[m.id]))
    remember(h.caller, cjson.encode({ kind = 'handoff', callId = h.callId, outcome = 'asked', tool = h.tool, to = h.to,
      ids = { m.id }, attempts = h.attempt, steps = num(agent(h.to).step) - h.step0 }))
    endCall(h, 'asked')
    h.callId = ''
    dropBehindQuestion(h.to)
  else
    isTaken = false
  end
  keepHandoff(id)
  return isTaken
end

-- Answers a question; if it is one of a handoff without an open call, this call waits for its result from now on.
-- Returns the code of the delivery, who asked, and the handoff.
local function answerQuestion(caller, request, body)
  local question = ledger(request.question)
  if not question or question.type ~= 'clarify' then return 'unknown_reference', request.question end
  local asked = openQuestions()[request.question]
  local task = asked and openTasks()[asked.root]
  local code = deliver({ id = request.id, from = caller, to = question.from, type = 'clarify_resp',
    inReplyTo = request.question, body = body })
  local h = code == 'ok' and task and task.handoff and openHandoffs()[task.handoff]
  if not h or h.caller ~= caller or h.callId ~= '' then return code, question.from end
  h.callId, h.answered = request.callId, true
  keepHandoff(task.handoff)
  return code, question.from, task.handoff
end
