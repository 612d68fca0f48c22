" Drives ALE: `vim -u NONE -T dumb --not-a-term -S ale.vim`. See sessions.py.
"
" Vim reads from the server only while it waits for the user, so nothing here waits: every step is
" called by what it needs, and the last one quits.
set nocompatible nomore hidden noswapfile viminfo=
let &runtimepath .= ',' . $EXCISE_ALE
let s:seen = {}

function! s:Give_up(why) abort
  call writefile([a:why], fnamemodify($EXCISE_SEEN, ':r') . '.why')
  cquit!
endfunction

" Runs a step and says where it failed.
function! s:Try(step, ...) abort
  try
    call call(a:step, a:000)
  catch
    call s:Give_up(v:throwpoint . ': ' . v:exception)
  endtry
endfunction

function! s:Begin(_timer) abort
  filetype on
  execute 'source' fnameescape($EXCISE_CONFIG)
  runtime plugin/ale.vim
  " ALE sends changes after a pause, and applies actions to files on disk unless told otherwise.
  let g:ale_lint_delay = 0
  augroup seen
    autocmd User ALELintPost call s:Try('s:Linted')
  augroup END
  execute 'edit' fnameescape($EXCISE_FILE)
  let s:buffer = bufnr('')
  let s:text = getline(1, '$')
  execute 'ExciseAdd' $EXCISE_REVISIONS
endfunction

" 1: diagnostics. The documented command leaves its answer in g:excise_added.
function! s:Linted() abort
  let l:shown = ale#engine#GetLoclist(s:buffer)
  if has_key(s:seen, 'diagnostics') || empty(l:shown) || !exists('g:excise_added')
    return
  endif
  let s:seen.accepted = g:excise_added.accepted
  let s:seen.diagnostics = map(copy(l:shown), {_, shown -> s:Diagnostic(shown)})
  call cursor($EXCISE_LINE + 1, 9)
  let g:ale_hover_to_preview = 1
  autocmd seen FileType ale-preview.message call timer_start(0, {-> s:Try('s:Hovered')})
  ALEHover
endfunction

" ALE writes '[SOURCE] MESSAGE'.
function! s:Diagnostic(shown) abort
  let [l:source, l:message] = matchlist(a:shown.detail, '^\[\(\w\+\)\] \(.*\)$')[1:2]
  return {'line': a:shown.lnum - 1, 'source': l:source, 'message': l:message}
endfunction

" 2: the hover, in the preview window.
function! s:Hovered() abort
  for l:window in range(1, winnr('$'))
    if getwinvar(l:window, '&previewwindow')
      let s:seen.hover = join(getbufline(winbufnr(l:window), 1, '$'), "\n")
    endif
  endfor
  if !has_key(s:seen, 'hover')
    return
  endif
  pclose
  let l:connection = keys(ale#lsp_linter#GetLSPLinterMap())[0]
  let s:seen.offersActions = ale#lsp#HasCapability(l:connection, 'code_actions') ? v:true : v:false
  if !s:seen.offersActions
    return s:Finish()
  endif
  autocmd seen TextChanged * call s:Try('s:Changed')
  call ale#codefix#Execute(0, {data, items -> s:Try('s:Choose', data, items)})
endfunction

" 3: an action, as ALECodeAction's menu offers it.
function! s:Choose(data, items) abort
  if empty(a:items)
    return s:Give_up('no actions')
  endif
  let s:seen.action = a:items[0][1].title
  call ale#codefix#ApplyLSPCodeAction(a:data, a:items[0][1])
  call s:Changed()
endfunction

function! s:Changed() abort
  if getbufline(s:buffer, 1, '$') != s:text
    call s:Finish()
  endif
endfunction

function! s:Finish() abort
  let s:seen.text = join(getbufline(s:buffer, 1, '$'), "\n") . "\n"
  call writefile([json_encode(s:seen)], $EXCISE_SEEN)
  qall!
endfunction

call timer_start(60000, {-> s:Give_up('waited in vain; so far ' . json_encode(s:seen))})
call timer_start(0, {-> s:Try('s:Begin', 0)})
