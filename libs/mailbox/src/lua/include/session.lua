-- The session of KEYS[1]: its keys, its fields, its agents, and the time of Redis.
local prefix, slot, sid = string.match(KEYS[1], '^(.*):session:({s%d+}):([^:]+)$')
local session = {}
local agents = {}
-- Fields that were set, by key; written together at the end of the script.
local changed = {}
-- Journal entries that were added, by agent; appended together at the end of the script.
local appended = {}

local function key(kind, name)
  local built = prefix .. ':' .. kind .. ':' .. slot .. ':' .. sid
  if name then built = built .. ':' .. name end
  return built
end

local function num(value)
  return tonumber(value) or 0
end

local function hgetall(name)
  local flat = redis.call('HGETALL', name)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

session = hgetall(KEYS[1])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function change(name, field, value)
  changed[name] = changed[name] or {}
  changed[name][field] = value
end

local function writeChanges()
  for name, entries in pairs(appended) do redis.call('RPUSH', key('memory', name), unpack(entries)) end
  appended = {}
  for name, fields in pairs(changed) do
    local flat = {}
    for field, value in pairs(fields) do
      flat[#flat + 1] = field
      flat[#flat + 1] = value
    end
    redis.call('HSET', name, unpack(flat))
  end
  changed = {}
end

-- Numbers are compared as such: as text two times may look alike.
local function isSame(old, value)
  return old == value or (type(value) == 'number' and tonumber(old) == value)
end

local function setSession(field, value)
  if isSame(session[field], value) then return end
  session[field] = value
  change(KEYS[1], field, value)
end

-- Numbers the tasks and questions of a session in the order in which they were opened.
local function count()
  setSession('count', num(session.count) + 1)
  return session.count
end

local function runIsOn()
  return session.run ~= nil and session.run ~= ''
end

local function isEnding()
  return session.final ~= nil and session.final ~= ''
end

-- Instances that handoffs called into being, and that have not left for good.
local function liveInstances()
  return session.live and session.live ~= '' and cjson.decode(session.live) or {}
end

-- Every address of the session: the lead first.
local memberNames
local function members()
  if not memberNames then
    memberNames = { 'lead' }
    for _, member in ipairs(cjson.decode(session.roster or '[]')) do memberNames[#memberNames + 1] = member.as end
    for _, name in ipairs(liveInstances()) do memberNames[#memberNames + 1] = name end
  end
  return memberNames
end

local function isMember(name)
  for _, member in ipairs(members()) do
    if member == name then return true end
  end
  return false
end

local function agent(name)
  local fields = agents[name]
  if not fields then
    fields = hgetall(key('agent', name))
    fields.st = fields.st or 'unloaded'
    fields.tail = fields.tail or 'idle'
    agents[name] = fields
  end
  return fields
end

local function setAgent(name, ...)
  local fields, owner = agent(name), key('agent', name)
  local changes = { ... }
  for i = 1, #changes, 2 do
    local field, value = changes[i], changes[i + 1]
    if not isSame(fields[field], value) then
      fields[field] = value
      change(owner, field, value)
    end
  end
end

local function remember(name, entry)
  local entries = appended[name] or {}
  appended[name] = entries
  entries[#entries + 1] = entry
end

local function due(name, kind, at)
  redis.call('ZADD', KEYS[2], at, sid .. '|' .. name .. '|' .. kind)
end

-- Keeps the earlier one of two times.
local function dueBy(name, kind, at)
  redis.call('ZADD', KEYS[2], 'LT', at, sid .. '|' .. name .. '|' .. kind)
end

local function notDue(name, kind)
  redis.call('ZREM', KEYS[2], sid .. '|' .. name .. '|' .. kind)
end

-- Joins a table and the members of a JSON object text into one JSON object text; the text is never parsed.
local function splice(head, object)
  local left = cjson.encode(head)
  if left == '{}' then return object end
  if object == '{}' then return left end
  return string.sub(left, 1, -2) .. ',' .. string.sub(object, 2)
end
