-- /etc/haproxy/vestibule.lua
local verify = "http://127.0.0.1:8080/auth/verify?deny=redirect"
local identity = { "x-vestibule-user", "x-vestibule-email", "x-vestibule-name", "x-vestibule-step", "x-vestibule-assertion" }
local handed_on = { "content-type", "content-language", "content-security-policy", "location", "cache-control", "retry-after",
  "www-authenticate", "x-request-id", "x-content-type-options" }
local not_asked = { ["accept-encoding"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["expect"] = true, ["trailer"] = true,
  ["te"] = true, ["connection"] = true, ["upgrade"] = true }

core.register_action("vestibule", { "http-req" }, function(txn)
  local headers = {}
  for name, values in pairs(txn.http:req_get_headers()) do
    if not not_asked[name] then
      headers[name] = {}
      for _, value in pairs(values) do table.insert(headers[name], value) end
    end
  end
  headers["x-forwarded-for"] = { txn.sf:src() }
  headers["x-forwarded-method"] = { txn.sf:method() }
  headers["x-forwarded-proto"] = { "https" }
  headers["x-forwarded-host"] = { txn.sf:req_fhdr("host") }
  headers["x-forwarded-uri"] = { txn.sf:pathq() }

  local answer = core.httpclient():get({ url = verify, headers = headers, timeout = 10000 })
  local let_through = answer and answer.status == 200
  if let_through then
    for _, name in ipairs(identity) do
      local values = answer.headers[name]
      txn.http:req_set_header(name, values and values[0] or "")
    end
    local told = txn.http:req_get_headers() -- where there was no room, nothing was set
    for _, name in ipairs(identity) do
      let_through = let_through and told[name] ~= nil
    end
  end
  if let_through then return end

  local status = answer and answer.status or 0
  if status < 300 then status = 503 end
  local reply = txn:reply({ status = status, body = answer and answer.body or "" })
  for _, name in ipairs(handed_on) do
    local values = answer and answer.headers and answer.headers[name]
    if values then
      for _, value in pairs(values) do reply:add_header(name, value) end
    end
  end
  txn:done(reply)
end)
