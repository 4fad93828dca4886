#!/usr/bin/env lua
--[[ function ghost() end
local ghost2 = 1 ]]
local class = require("middleclass")
local Order <const> = class("Order")
local sql = [[ function fake() end ]]
Order.static.LIMIT = 3
Order.__index = Order

--- Makes one.
-- @param id the id
function Order:initialize(id, ...)
  self.id = id
  self.run = function() local own = 1 end
  local function step(n) return n end
  goto done
  ::done::
end
function Order.new(id) return setmetatable({}, Order) end
Order.total = function(self) return 1 end
Order["odd key"] = function() end
Order.handlers = {
  click = function(x) end,
  ["key down"] = function() end,
  nested = { deep = function() end },
  1, 2,
}
local a, b = function() end, 2
local later
local function helper() end
do
  local hidden = 1
  function Order.inner.deep() end
end
GLOBAL = 1
x, Order.y = 1, function() end
for i = 1, 3 do local own = i end
return Order
