local file = io.open("%s", "rb")
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "%s"
file:close()
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("measured %%d requests in %%d us, %%d failed\n", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout))
end
