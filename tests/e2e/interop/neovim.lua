-- Drives Neovim's own client: `nvim --headless --clean -l neovim.lua`. See sessions.py.
local env, seen = vim.env, {}

local function wait(what, done)
  if not vim.wait(60000, done, 5) then
    error("waited in vain for " .. what)
  end
end

dofile(env.EXCISE_CONFIG)
vim.cmd.filetype("on")
vim.cmd.edit(vim.fn.fnameescape(env.EXCISE_FILE))
local buffer = vim.api.nvim_get_current_buf()
local function client()
  return vim.lsp.get_clients({ name = "excise", bufnr = buffer })[1]
end
wait("the client", function()
  return client() ~= nil and client().initialized
end)
seen.encoding = client().offset_encoding
seen.offersActions = client():supports_method("textDocument/codeAction")

-- The documented command says what came of it; so does a user's screen.
local notified
vim.notify = function(message)
  notified = message
end
vim.cmd("ExciseAdd " .. env.EXCISE_REVISIONS)
wait("the answer to ExciseAdd", function()
  return notified ~= nil
end)
seen.accepted = vim.split(notified:gsub("^accepted: ", ""), ", ")
wait("diagnostics", function()
  return #vim.diagnostic.get(buffer) > 0
end)
seen.diagnostics = vim.tbl_map(function(d)
  return { line = d.lnum, source = d.source, message = d.message }
end, vim.diagnostic.get(buffer))

-- The hover, in the window that K opens.
local line = tonumber(env.EXCISE_LINE)
vim.api.nvim_win_set_cursor(0, { line + 1, 8 })
local function float()
  return vim.iter(vim.api.nvim_list_wins()):find(function(window)
    return vim.api.nvim_win_get_config(window).relative ~= ""
  end)
end
vim.lsp.buf.hover()
wait("the hover", function()
  return float() ~= nil
end)
local shown = vim.api.nvim_win_get_buf(float())
seen.hover = table.concat(vim.api.nvim_buf_get_lines(shown, 0, -1, true), "\n")
vim.api.nvim_win_close(float(), true)

-- An action, taken from the menu that gra opens.
if seen.offersActions then
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  vim.ui.select = function(items, options, choose)
    seen.action = options.format_item(items[1])
    choose(items[1], 1)
  end
  vim.lsp.buf.code_action()
  wait("the action's edit", function()
    return vim.api.nvim_buf_get_changedtick(buffer) > tick
  end)
end
seen.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n") .. "\n"

client():stop()
wait("the server's end", function()
  return client() == nil
end)
vim.fn.writefile({ vim.json.encode(seen) }, env.EXCISE_SEEN)
