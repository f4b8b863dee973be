-- Puts one message into exactly one place: a mailbox, or the dead letters of an agent that is dead.
local silence
local engineReply
local takeResult
local takeQuestion

-- Who may send what to whom, another member of the session (R1). What the engine makes is not asked.
local function isSendable(m)
  local type = m.type
  if m.from == 'user' then return m.to == 'lead' and type == 'task' end
  if m.from == 'lead' then return type == 'task' or type == 'revision' or type == 'clarify_resp' or type == 'shutdown' end
  if m.to == 'lead' then return type == 'clarify' or type == 'progress' or type == 'result' end
  return type == 'clarify' or type == 'clarify_resp' or type == 'progress'
end

-- The engine's fields of a stored message, or nil. Stored form: from|to|type|inReplyTo|root|run|seq, newline, JSON.
local function ledger(id)
  local stored = redis.call('HGET', key('ledger'), id)
  if not stored then return nil end
  local from, to, type, inReplyTo, root, run, seq = string.match(stored, '^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^\n]*)\n')
  return { id = id, from = from, to = to, type = type, inReplyTo = inReplyTo, root = root, run = run, seq = num(seq), stored = stored }
end

local function isKnown(id)
  return redis.call('HEXISTS', key('ledger'), id) == 1
end

local function closedTask(id)
  local by, base = string.match(redis.call('HGET', key('closed'), id) or '', '^(%a+)|(.*)$')
  return by, base
end

-- The open task of `name` that a reference leads to, or without one the only one; else nil, the root that the reference
-- led to, and the open ones. An agent itself (`isOwn`) can only mean what it has read.
local function taskOf(name, reference, isOwn)
  local mine = pick(openTasks(), function(task) return task.to == name and (task.read or not isOwn) end)
  local root = reference and reference.root or ''
  if root ~= '' then
    if openTasks()[root] and openTasks()[root].to == name and (openTasks()[root].read or not isOwn) then return root end
    local _, base = closedTask(root)
    for _, id in ipairs(mine) do
      if openTasks()[id].base == (base or root) then return id end
    end
  elseif #mine == 1 then
    return mine[1]
  end
  return nil, root, mine
end

local function closeQuestions(from, to, withdraw)
  for _, id in ipairs(pick(openQuestions(), function(q) return q.st == 'open' and q.from == from and (to == nil or q.to == to) end)) do
    if withdraw then
      questions[id].st = 'withdrawn'
      redis.call('HSET', key('questions'), id, cjson.encode(questions[id]))
    else
      questions[id] = nil
      redis.call('HDEL', key('questions'), id)
    end
  end
end

-- Each: what a message of this type refers to and opens. Returns a refusal and its detail, or nil; sets m.root.
-- Made when the first message is delivered, since most scripts deliver none.
local resolve
local function resolverOf(type)
  if resolve then return resolve[type] end
  resolve = {}

  function resolve.task(m)
    if m.from == 'user' then return nil end
    if isEnding() then return 'run_ending' end
    m.root = m.id
    m.opens = ''
  end

  function resolve.revision(m, reference)
    if isEnding() then return 'run_ending' end
    local id, root, mine = taskOf(m.to, reference)
    if id then
      m.root = id
      m.amends = id
      return nil
    end
    if root == '' and #mine > 0 then return 'ambiguous_task', mine end
    local _, base = closedTask(root)
    m.root = m.id
    m.opens = base or root
  end

  function resolve.clarify(m, reference)
    m.root = taskOf(m.from, reference, true) or (reference and reference.root) or ''
  end

  function resolve.clarify_resp(m, reference)
    local asked = reference and openQuestions()[reference.id]
    if asked and asked.st == 'withdrawn' then return 'question_withdrawn' end
    if not (reference and reference.type == 'clarify') then
      local open = pick(openQuestions(), function(q) return q.st == 'open' and q.from == m.to and q.to == m.from end)
      for _, id in ipairs(open) do
        if reference and questions[id].root == reference.root then open = { id } end
      end
      if open[1] then
        m.inReplyTo = open[1]
        reference = ledger(open[1])
      end
    end
    m.root = reference and reference.root or ''
  end

  function resolve.progress(m, reference)
    local id, root, mine = taskOf(m.from, reference, true)
    m.root = id or (root ~= '' and root) or mine[#mine] or ''
  end

  function resolve.result(m, reference)
    m.status = m.status or 'ok'
    local id, root, mine = taskOf(m.from, reference, not m.engine)
    if id then
      m.root = id
      m.inReplyTo = id
      m.closes = id
      return nil
    end
    local by = root ~= '' and ledger(root).to == m.from and closedTask(root)
    if by == 'engine' then
      m.root = root
      m.late = true
      return nil
    end
    if by then return 'task_closed' end
    if openTasks()[root] and openTasks()[root].to == m.from then return 'task_revised' end
    if #mine > 0 then return 'ambiguous_task', mine end
    return 'no_open_task'
  end

  function resolve.shutdown() end
  function resolve.notice() end

  return resolve[type]
end

-- u: wakes even a lead that waits for all · w: wakes · p: progress · n: read at the next step
local function flagOf(m)
  if m.type == 'progress' then return 'p' end
  if m.mute or m.late then return 'n' end
  if m.to ~= 'lead' then return 'w' end
  if not runIsOn() then return 'n' end
  if m.type == 'result' and (m.status == 'ok' or m.status == 'partial') then return 'w' end
  return 'u'
end

local function bury(id, name, code)
  redis.call('RPUSH', key('dead'), id)
  event('ae', name, cjson.encode({ code = code, message = 'moved to the dead letters', msgId = id }))
end

-- Whether one more message fits. Superseded progress makes room if that helps; the latest per task stays (R4).
local function hasRoom(name)
  local size = num(session.mailboxSize)
  if redis.call('LLEN', key('mailbox', name)) < size then return true end
  local mail = redis.call('LRANGE', key('mailbox', name), 0, -1)
  local latest, superseded = {}, {}
  for i = #mail, 1, -1 do
    if string.sub(mail[i], 1, 1) == 'p' then
      local about = ledger(string.sub(mail[i], 2))
      local task = about.from .. '|' .. about.root
      if latest[task] then superseded[#superseded + 1] = about.id end
      latest[task] = true
    end
  end
  if #mail - #superseded >= size then return false end
  for i = #superseded, 1, -1 do
    bury(superseded[i], name, 'superseded')
    redis.call('LREM', key('mailbox', name), 1, 'p' .. superseded[i])
  end
  return true
end

-- m: id, from, to, type, body (JSON object text) and, where they apply, inReplyTo, status, code, engine, mute, handoff and
-- depth of a handoff's task, isNew (the caller has looked the id up), and `accepted`, called once nothing can refuse the
-- message any more.
-- Returns 'ok', or the code of a refusal and its detail; a refusal has written nothing, and neither has a known id (R3).
local function deliver(m)
  if not m.isNew and isKnown(m.id) then return 'ok' end
  if m.from == m.to then return 'self_addressed' end
  if not isMember(m.to) then return 'unknown_recipient' end
  if not (m.engine or isSendable(m)) then return 'wrong_direction' end
  local reference
  if m.inReplyTo and m.inReplyTo ~= '' then
    reference = ledger(m.inReplyTo)
    if not reference then return 'unknown_reference' end
  else
    m.inReplyTo = nil
  end
  m.root = ''
  local refusal, detail = resolverOf(m.type)(m, reference)
  if refusal then return refusal, detail end
  if not (m.engine or m.type == 'result' or m.type == 'shutdown' or hasRoom(m.to)) then return 'mailbox_full' end
  if m.accepted then m.accepted() end

  local recipient = agent(m.to)
  local seq = num(recipient.seq) + 1
  local json = splice({
    msgId = m.id, inReplyTo = m.inReplyTo, from = m.from, to = m.to, type = m.type,
    seq = seq, ts = now, status = m.status, late = m.late, code = m.code, depth = m.depth,
  }, m.body)
  local head = { m.from, m.to, m.type, m.inReplyTo or '', m.root, session.run or '', seq }
  redis.call('HSET', key('ledger'), m.id, table.concat(head, '|') .. '\n' .. json)
  redis.call('RPUSH', key('messages'), m.id)
  local shown = { result = 'ar', progress = 'ap', clarify = 'ac' }
  event(shown[m.type] or 'am', m.from, json)

  if m.opens then
    openTasks()[m.id] = { to = m.to, from = m.from ~= 'lead' and m.from or nil, run = session.run, at = now, no = count(),
      base = m.opens ~= '' and m.opens or nil, handoff = m.handoff }
    redis.call('HSET', key('tasks'), m.id, cjson.encode(tasks[m.id]))
  end
  if m.amends then
    tasks[m.amends].read = nil
    redis.call('HSET', key('tasks'), m.amends, cjson.encode(tasks[m.amends]))
  end
  local handoff
  if m.closes then
    local task = openTasks()[m.closes]
    handoff = task.handoff
    local by = m.engine and m.status ~= 'ok' and m.status ~= 'partial' and 'engine' or 'agent'
    redis.call('HSET', key('closed'), m.closes, by .. '|' .. (task.base or m.closes))
    redis.call('HDEL', key('tasks'), m.closes)
    tasks[m.closes] = nil
  elseif m.late then
    local _, base = closedTask(m.root)
    redis.call('HSET', key('closed'), m.root, 'agent|' .. base)
  end
  if m.type == 'result' then
    closeQuestions(m.from, nil, true)
  elseif m.from == 'lead' or m.type == 'clarify_resp' then
    closeQuestions(m.to, m.from, false)
  end
  if m.type == 'clarify' then
    openQuestions()[m.id] = { from = m.from, to = m.to, root = m.root, at = now, no = count(), st = 'open', ignored = 0 }
    redis.call('HSET', key('questions'), m.id, cjson.encode(questions[m.id]))
    setSession('asked', 1)
    dueBy(m.from, 'clarify', now + num(session.clarifyMs))
  elseif m.type == 'progress' and openTasks()[m.root] then
    tasks[m.root].progress = m.id
    redis.call('HSET', key('tasks'), m.root, cjson.encode(tasks[m.root]))
  end
  if not m.engine and m.type ~= 'progress' and m.type ~= 'clarify' then setSession('quiet', 0) end

  if m.type == 'clarify' then handoff = openTasks()[m.root] and tasks[m.root].handoff end
  if handoff and (m.type == 'result' and takeResult or takeQuestion)(m, handoff) then
    setAgent(m.to, 'seq', seq)
    return 'ok'
  end
  if recipient.st == 'dead' then
    if m.type ~= 'task' and m.type ~= 'revision' then
      setAgent(m.to, 'seq', seq)
      bury(m.id, m.to, 'agent_dead')
      if m.type == 'clarify' then engineReply(m.id, m.to .. ' is out of service. Proceed on a stated assumption.') end
      return 'ok'
    end
    setAgent(m.to, 'st', 'unloaded', 'strikes', 0)
  end
  local flag = flagOf(m)
  local changes = { 'seq', seq }
  if flag == 'u' or flag == 'w' then
    changes[3], changes[4] = 'wake', num(recipient.wake) + 1
    changes[5], changes[6] = 'urgent', num(recipient.urgent) + (flag == 'u' and 1 or 0)
    if num(recipient.wake) == 0 then changes[7], changes[8] = 'wakeAt', now end
  end
  setAgent(m.to, unpack(changes))
  redis.call('RPUSH', key('mailbox', m.to), flag .. m.id)
  if m.type == 'shutdown' then silence(m.to, 'shutdown') end
  if flag == 'u' or flag == 'w' then wake(m.to) end
  return 'ok'
end

-- The id of an engine-made message is derived, so that it can be made only once.
local function derivedId(...)
  return 'msg_' .. string.sub(redis.sha1hex(sid .. '|' .. table.concat({ ... }, '|')), 1, 12)
end

local function contentOf(text)
  return cjson.encode({ content = text })
end

-- `code`: why no other attempt can help. Nothing, when the end of another task has closed this one already.
local function engineResult(id, status, body, mute, code)
  local task = openTasks()[id]
  if not task then return end
  deliver({ id = derivedId('result', id), from = task.to, to = task.from or 'lead', type = 'result', inReplyTo = id,
    status = status, body = body, engine = true, mute = mute, code = code })
end

-- Answers a question that is still open: an answer closes all earlier ones of the same agent.
function engineReply(questionId, text)
  local question = openQuestions()[questionId]
  if not question or question.st ~= 'open' then return end
  deliver({ id = derivedId('reply', questionId), from = question.to, to = question.from, type = 'clarify_resp',
    inReplyTo = questionId, body = contentOf(text), engine = true })
end
