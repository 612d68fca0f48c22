-- A whole review by Neovim's own client, without a line of client code: see workload.py.
local env, seen = vim.env, { pages = {} }

local function wait(what, done)
  if not vim.wait(60000, done, 5) then
    error("waited in vain for " .. what)
  end
end

dofile(env.EXCISE_CONFIG)
vim.cmd.filetype("on")
vim.o.hidden = true
vim.cmd.edit(vim.fn.fnameescape(env.EXCISE_FILE))
local buffer = vim.api.nvim_get_current_buf()
local function client()
  return vim.lsp.get_clients({ name = "excise", bufnr = buffer })[1]
end
local function text(of)
  return table.concat(vim.api.nvim_buf_get_lines(of, 0, -1, true), "\n") .. "\n"
end
local function marks()
  local found = {}
  for _, mark in ipairs(vim.diagnostic.get(buffer)) do
    if mark.code == "hunk" then
      table.insert(found, mark.lnum)
    end
  end
  return found
end

-- What a user picks in the menu of `gra`, or behind its last entry.
local function choose(title, line)
  vim.api.nvim_set_current_buf(buffer)
  vim.api.nvim_win_set_cursor(0, { (line or 0) + 1, 0 })
  local chosen = false
  vim.ui.select = function(items, options, pick)
    local more
    for at, item in ipairs(items) do
      local shown = options.format_item(item)
      if shown:find(title, 1, true) == 1 then
        chosen = true
        return pick(item, at)
      elseif shown:find("More of the candidates", 1, true) == 1 then
        more = at
      end
    end
    if more == nil then
      error("no action is called " .. title)
    end
    pick(items[more], more)
  end
  vim.lsp.buf.code_action()
  wait(title, function()
    return chosen
  end)
end

local function page(title)
  choose(title)
  wait("the page of " .. title, function()
    return vim.api.nvim_get_current_buf() ~= buffer
  end)
  local shown = vim.api.nvim_get_current_buf()
  table.insert(seen.pages, { name = vim.api.nvim_buf_get_name(shown), text = text(shown) })
end

wait("the candidates", function()
  return #marks() > 0
end)
seen.marks = marks()
if env.EXCISE_AGAIN then -- the memory of the session before
  vim.fn.writefile({ vim.json.encode(seen) }, env.EXCISE_SEEN)
  client():stop(true)
  vim.cmd.quitall({ bang = true })
end

page("Compare the candidates of this repository")
page("Show this file as ada has it")
page("Show this file as bo has it")

local function edited(title, line)
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  choose(title, line)
  wait("the edit of " .. title, function()
    return vim.api.nvim_buf_get_changedtick(buffer) > tick
  end)
  return text(buffer)
end
local function undo()
  vim.api.nvim_set_current_buf(buffer)
  vim.cmd.undo()
  return text(buffer)
end

seen.hunk = edited("Take the lines of ada here", tonumber(env.EXCISE_LINE))
seen.undone = undo()
seen.file = edited("Take this file from bo")
undo()
edited("Take all files from ada")
local created = env.EXCISE_FILE:gsub("a.py$", "new.py")
seen.whole = text(buffer)
wait("the new file", function()
  return vim.fn.bufexists(created) == 1 and text(vim.fn.bufnr(created)) ~= "\n"
end)
seen.created = text(vim.fn.bufnr(created))
seen.deleted = vim.uv.fs_stat((env.EXCISE_FILE:gsub("a.py$", "old.py"))) == nil
vim.api.nvim_set_current_buf(buffer)
vim.cmd.write()
wait("the mark of the hunk that is left", function()
  return #marks() == 1
end)

client():stop()
wait("the server's end", function()
  return client() == nil
end)
vim.fn.writefile({ vim.json.encode(seen) }, env.EXCISE_SEEN)
