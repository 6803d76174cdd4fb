-- Load for wrk: the message of a file, in RunJob with residues that differ from request to request so that no two ask
-- the same. Answers are counted by whether they hold what they should.
-- Arguments: file, words that a right answer holds, residues per counter digit ("" leaves the message as it is).
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(arguments)
  local file = assert(io.open(arguments[1], "r"))
  message = file:read("*a")
  file:close()
  expected = arguments[2]
  right, wrong, count = 0, 0, 0
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "text/xml; charset=utf-8"
  local from, to = message:find("########", 1, true)
  if from then
    before, after = message:sub(1, from - 1), message:sub(to + 1)
  else
    fixed = wrk.format(nil, nil, nil, message)
  end
end

local LETTERS = "ACDEFGHIKLMNPQRSTVWY"

function request()
  if fixed then return fixed end
  -- Eight letters: the thread's, and a number of seven digits to the base of twenty.
  count = count + 1
  local rest, letters = count, { LETTERS:sub(number + 1, number + 1) }
  for i = 2, 8 do
    local digit = rest % 20
    letters[i] = LETTERS:sub(digit + 1, digit + 1)
    rest = (rest - digit) / 20
  end
  return wrk.format(nil, nil, nil, before .. table.concat(letters) .. after)
end

function response(status, headers, body)
  if status == 200 and body:find(expected, 1, true) then right = right + 1 else wrong = wrong + 1 end
end

function done(summary)
  local all_right, all_wrong = 0, 0
  for _, thread in ipairs(threads) do
    all_right = all_right + thread:get("right")
    all_wrong = all_wrong + thread:get("wrong")
  end
  local errors = summary.errors
  print(string.format('RESULT {"right":%d,"wrong":%d,"broken":%d,"microseconds":%d}', all_right, all_wrong,
    errors.connect + errors.read + errors.write + errors.timeout, summary.duration))
end
