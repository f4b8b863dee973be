#!lua flags=allow-oom
-- Writes one part of a step: journal, usage, events, outgoing messages, results, settling and activations, together.
-- The commit number makes a second execution return the first one's answer.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] session cancel number  ARGV[5] agent cancel number
-- ARGV[6] commit number  ARGV[7] plan (JSON): {entries: n, events: [code…], sends?: [{callId, id, to, type, inReplyTo?}],
--   open?: [callId…], closes?: callId,
--   handoffs?: [{id, callId, tool, to, agent, mode, depth, maxDepth, max, timeoutMs, fallback}], answers?: [{callId, id, question}],
--   park: 'no' | 'yes' | 'if_done' | 'keep', step?, usage?: {field of the sums: amount},
--   final?: {status, force, code?}, settle?: {status, reason, force}, spent?: true, conclude?: reason, leave?: reason, look?: {known, bytes, id}}
-- ARGV[8…] bodies in that order: journal entries, event data, the record of the model call
--   if there is `usage`, message bodies, those of handoffs and answers, the text of final {content} or settle {text}
-- Replies [{code: 'ok' | 'lost' | 'closed' | 'cancelled' | 'out_of_step', work, left?, settled?, held?, activate?}], and, if
--   asked to look, when the agent has work other than open tool calls, at the first execution, what `drain` replies.
--   `held`: what the host holds and the entries of this part are one piece of the journal; the look begins after it.
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
-- @include look
local name, fields = ARGV[1], agent(ARGV[1])
if fields.token == ARGV[3] and num(fields.n) == num(ARGV[6]) + 1 and fields.ans then return { fields.ans } end
local fenced = fence(name, ARGV[2], ARGV[3])
if fenced ~= 'ok' then return { cjson.encode({ code = fenced }) } end
if isCancelled(name, ARGV[4], ARGV[5]) then return { cjson.encode({ code = 'cancelled' }) } end
local plan = cjson.decode(ARGV[7])
local more = plan.look and unseen(name, plan.look.known)
if num(fields.n) ~= num(ARGV[6]) or (more and more < 0) then return { cjson.encode({ code = 'out_of_step' }) } end

local at = 7
local function body()
  at = at + 1
  return ARGV[at]
end

for _ = 1, plan.entries do remember(name, body()) end
if more == 0 then plan.look.own = plan.entries end
for _, code in ipairs(plan.events) do event(code, name, body()) end
setAgent(name, 'n', num(fields.n) + 1, 'did', 1, 'strikes', 0, 'step', plan.step or num(fields.step))
setSession('progressAt', now)
-- Without a step the call that is reserved was not made, or its end is told here.
if not plan.step then setAgent(name, 'look', '') end
if plan.usage then book(name, body(), plan.usage) end

local refused, asked, reported = false, false, false
for _, send in ipairs(plan.sends or {}) do
  local code, detail = deliver({ id = send.id, from = name, to = send.to, type = send.type, inReplyTo = send.inReplyTo,
    body = body() })
  remember(name, cjson.encode({ kind = 'sent', callId = send.callId, code = code, msgId = send.id, to = send.to,
    type = send.type, detail = detail }))
  if code == 'ok' then
    asked = asked or send.type == 'clarify'
    reported = reported or send.type == 'result'
    event('tr', name, cjson.encode({ toolCallId = send.callId, name = 'send_message', outcome = send.id, step = plan.step }))
  else
    refused = true
    event('tr', name, cjson.encode({ toolCallId = send.callId, name = 'send_message', outcome = code, error = true, step = plan.step }))
    event('ae', name, cjson.encode({ code = code, message = 'refused', to = send.to, type = send.type }))
  end
end

-- A call of a colleague that did not come about has its outcome at once.
local handed = {}
local function noteCall(call, to, type, code, handoff)
  if handoff then
    handed[call.callId] = handoff
    return
  end
  remember(name, cjson.encode({ kind = 'sent', callId = call.callId, code = code, msgId = call.id, to = to, type = type }))
  event('tr', name, cjson.encode({ toolCallId = call.callId, outcome = code, error = code ~= 'ok' or nil, step = plan.step }))
end
for _, call in ipairs(plan.handoffs or {}) do
  local id, to = call.id, call.to
  local code = openHandoff(name, call, body())
  noteCall({ callId = call.callId, id = id }, to, 'task', code, code == 'ok' and id)
end
for _, call in ipairs(plan.answers or {}) do
  local code, to, handoff = answerQuestion(name, call, body())
  noteCall(call, to, 'clarify_resp', code, handoff)
end

if plan.open or plan.handoffs or plan.answers then
  setCalls(name, plan.open or {}, handed)
  for _, call in ipairs(plan.handoffs or {}) do dropBehindQuestion(call.to) end
elseif plan.closes then
  local calls, waiting = callsOf(name)
  local rest = {}
  for _, call in ipairs(calls) do
    if call ~= plan.closes then rest[#rest + 1] = call end
  end
  setCalls(name, rest, waiting)
elseif plan.park ~= 'keep' then
  local isDone = asked or (reported and #tasksOf(name) == 0)
  local parks = plan.final or plan.settle or plan.park == 'yes' or (plan.park == 'if_done' and isDone)
  setAgent(name, 'tail', parks and not refused and 'idle' or 'model')
  -- What failed has used its model call up.
  if plan.spent or ((plan.final or plan.settle) and not plan.step) then setAgent(name, 'reserved', 0) end
end

-- A text without tool calls is the result of every open task that was read, or answers a peer (R10).
local function finish(final, text)
  local done = pick(openTasks(), function(task) return task.to == name and task.read end)
  local giver = done[1] and tasks[done[1]].from or 'lead'
  local waits = pick(openQuestions(), function(q) return q.st == 'open' and q.from == name and q.to == giver end)
  if #done > 0 and #waits > 0 and not final.force then
    deliver({ id = derivedId('progress', name, ARGV[6]), from = name, to = giver, type = 'progress', inReplyTo = done[1],
      body = text, engine = true })
  elseif #done > 0 then
    for _, id in ipairs(done) do engineResult(id, final.status, text, false, final.code) end
    setSession('quiet', 0)
  else
    local peers = pick(openQuestions(), function(q) return q.st == 'open' and q.to == name and q.read end)
    if peers[1] then
      deliver({ id = derivedId('reply', peers[1]), from = name, to = questions[peers[1]].from, type = 'clarify_resp',
        inReplyTo = peers[1], body = text, engine = true })
      setSession('quiet', 0)
    end
  end
end

local settled
if plan.final then finish(plan.final, body()) end
if plan.settle and runIsOn() then
  local text = body()
  if plan.settle.force then
    cancelTeam('Cancelled: the run ended.', true)
    settled = true
  else
    settled = next(openTasks()) == nil and num(fields.wake) == 0
  end
  if settled then settleRun(plan.settle.status, plan.settle.reason or '', text) end
end
if plan.conclude then conclude(plan.conclude) end
if name == 'lead' and runIsOn() and (fields.tail == 'idle' or fields.tail == 'handoff') then
  if fields.tail == 'idle' then countIgnored() end
  if not hasWork('lead') then setRunStatus('waiting') end
end

-- A sub-agent without a task and without a question of its own has nothing to wait for (R11).
local left
if name ~= 'lead' and not hasWork(name) and #tasksOf(name) == 0
  and #pick(openQuestions(), function(q) return q.st == 'open' and q.from == name end) == 0 then
  left = plan.leave or 'completed'
  leave(name, left)
end
checkQuiescence()
local reply = { code = 'ok', work = hasWork(name), left = left, settled = settled, held = more == 0 or nil }
local head, entries, messages
if plan.look and reply.work and fields.tail ~= 'tools' then head, entries, messages = look(name, plan.look) end
local encoded = answer(reply, function(kept) setAgent(name, 'ans', kept) end)
if not head then return { encoded } end
return { encoded, cjson.encode(head), entries, messages }
