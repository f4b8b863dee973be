-- What is spent (R21): one row per model call, the sums of session, agent and run, and the budgets on them.
-- Costs are millionths of a dollar here: whole numbers add up without loss.
local BUDGETS = {
  session = { calls = 'callLimit', tokens = 'tokenLimit', cost = 'costLimit' },
  run = { calls = 'runCallLimit', tokens = 'runTokenLimit', cost = 'runCostLimit' },
}
local SCOPES = { 'session', 'run' }
local KINDS = { 'calls', 'tokens', 'cost' }
local SUMS = { 'calls', 'used', 'input', 'output', 'cached', 'reasoning', 'micro', 'unpriced' }
local WARN_AT = 0.8

-- A run has spent what its session has spent since it began.
local function sumOf(scope, field)
  local sum = num(session[field])
  return scope == 'run' and sum - num(session[field .. '0']) or sum
end

-- What a run's account begins with.
local function openAccount()
  for _, field in ipairs(SUMS) do setSession(field .. '0', num(session[field])) end
  for _, kind in ipairs({ 'calls', 'tokens', 'cost', 'unpriced' }) do
    if session['warned:run:' .. kind] then setSession('warned:run:' .. kind, '') end
  end
end

local function limitOf(scope, kind)
  return num(session[BUDGETS[scope][kind]])
end

local function usedOf(scope, kind)
  if kind == 'tokens' then return sumOf(scope, 'input') + sumOf(scope, 'output') end
  return sumOf(scope, kind == 'cost' and 'micro' or kind)
end

-- The first budget of a scope that is spent, or nil.
local function spentBudget(scope)
  for _, kind in ipairs(KINDS) do
    local limit = limitOf(scope, kind)
    if limit > 0 and usedOf(scope, kind) >= limit then return kind end
  end
end

-- Why no further call may be made, or nil.
local function spentReason()
  local kind = spentBudget('session')
  if kind then return 'budget_' .. kind end
  kind = spentBudget('run')
  return kind and 'run_budget_' .. kind
end

-- Tells once that a budget is nearly spent, or that it cannot hold because a call has no price.
local function warn(name, scope, kind, unpriced)
  local limit = limitOf(scope, kind)
  if limit == 0 then return end
  local flag = 'warned:' .. scope .. ':' .. (unpriced and 'unpriced' or kind)
  if (session[flag] or '') ~= '' then return end
  local used, unit = usedOf(scope, kind), kind == 'cost' and 1000000 or 1
  if not unpriced and used < WARN_AT * limit then return end
  setSession(flag, 1)
  event('b', name, cjson.encode({ scope = scope, kind = kind, used = used / unit, limit = limit / unit, unpriced = unpriced }))
end

local function warnOfBudgets(name, isUnpriced)
  for _, scope in ipairs(SCOPES) do
    for _, kind in ipairs(KINDS) do warn(name, scope, kind) end
    if isUnpriced then warn(name, scope, 'cost', true) end
  end
end

local function addRow(row)
  redis.call('RPUSH', key('usage'), splice({ at = now, runId = runIsOn() and session.run or session.lastRun or '' }, row))
end

-- Books a model call: `row` is its record (JSON object text), `sums` what it adds, by field.
local function book(name, row, sums)
  addRow(row)
  local fields = agent(name)
  for field, amount in pairs(sums) do
    setSession(field, num(session[field]) + amount)
    setAgent(name, field, num(fields[field]) + amount)
    -- A run that has settled still pays for what its agents had begun.
    if not runIsOn() and session.lastRun then redis.call('HINCRBY', key('run', session.lastRun), field, amount) end
  end
  if runIsOn() then warnOfBudgets(name, sums.unpriced ~= nil) end
end

-- Counts a call before it is made.
local function bookReservation(name)
  setSession('calls', num(session.calls) + 1)
  warnOfBudgets(name)
end

-- The definition behind an address, and who called it as a tool.
local function originOf(name)
  if name == 'lead' then return session.leadAgent end
  for _, member in ipairs(cjson.decode(session.roster or '[]')) do
    if member.as == name then return member.agent end
  end
  local instance = cjson.decode(redis.call('HGET', key('instances'), name) or '{}')
  return instance.agent or name, instance.caller
end

-- A reserved call whose answer nobody committed: maybe made and served, so it shows. True if there was one.
local function writeOff(name)
  local fields = agent(name)
  if num(fields.reserved) ~= num(fields.step) + 1 or (fields.look or '') == '' then return false end
  local definition, parent = originOf(name)
  addRow(cjson.encode({ agent = definition, instance = name, parent = parent,
    taskId = name ~= 'lead' and tasksOf(name)[1] or nil, step = num(fields.step) + 1, status = 'lost' }))
  setAgent(name, 'look', '')
  return true
end
