;;; emacs.el --- Drives eglot: `emacs -q --batch -l emacs.el'. See sessions.py.  -*- lexical-binding: t -*-

(require 'cl-lib)
(require 'json)
(require 'eglot)
(require 'flymake)

(defun seen-wait (what done)
  "Read from the server until DONE returns non-nil; WHAT is waited for."
  (let ((end (+ (float-time) 60)) found)
    (while (not (setq found (funcall done)))
      (when (> (float-time) end) (error "Waited in vain for %s" what))
      (accept-process-output nil 1))
    found))

(load (getenv "EXCISE_CONFIG") nil t t)
(find-file (getenv "EXCISE_FILE"))
(run-hooks 'post-command-hook)          ; there is no command loop in batch
(seen-wait "the server" (lambda () (eglot-managed-p)))

(defvar seen-actions (and (eglot--server-capable :codeActionProvider) t))

;; The documented command; it shows in the echo area what was accepted.
(defvar seen-accepted
  (excise-add (file-expand-wildcards (getenv "EXCISE_REVISIONS"))))

;; Diagnostics, as flymake has them.
(defun seen-diagnostics ()
  "Return what flymake shows in this buffer."
  (flymake-start)
  (flymake-diagnostics))

(defun seen-diagnostic (diagnostic)
  "Return DIAGNOSTIC as the test compares it: eglot writes \"SOURCE [CODE]: MESSAGE\"."
  (let ((text (flymake-diagnostic-text diagnostic)))
    (unless (string-match "\\`\\([a-z]+\\) \\[[a-z]+\\]: " text) (error "No source in %s" text))
    (list (cons 'line (1- (line-number-at-pos (flymake-diagnostic-beg diagnostic))))
          (cons 'source (match-string 1 text))
          (cons 'message (substring text (match-end 0))))))

(defvar seen-shown
  (mapcar #'seen-diagnostic (seen-wait "diagnostics" #'seen-diagnostics)))

;; The hover, as eldoc gets it.
(defvar seen-hover nil)
(goto-char (point-min))
(forward-line (string-to-number (getenv "EXCISE_LINE")))
(back-to-indentation)
(set-window-buffer (selected-window) (current-buffer)) ; eglot asks for windows only
(eglot-hover-eldoc-function (lambda (text &rest _) (setq seen-hover text)))
(seen-wait "the hover" (lambda () seen-hover))

;; An action, as `M-x eglot-code-actions' offers it.
(defvar seen-action nil)
(when seen-actions
  (let ((tick (buffer-chars-modified-tick))
        (last-nonmenu-event ?a)         ; the keyboard, not a menu
        (eglot-confirm-server-initiated-edits nil))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt items &rest _) (setq seen-action (caar items)))))
      (eglot-code-actions (point) (point) nil t))
    (seen-wait "the action's edit" (lambda () (> (buffer-chars-modified-tick) tick)))))

(defvar seen-text (buffer-substring-no-properties (point-min) (point-max)))
(eglot-shutdown (eglot-current-server))
(with-temp-file (getenv "EXCISE_SEEN")
  (insert (json-encode
           `((accepted . ,seen-accepted)
             (offersActions . ,(or seen-actions json-false))
             (diagnostics . ,(vconcat seen-shown))
             (hover . ,(substring-no-properties seen-hover))
             (action . ,seen-action)
             (text . ,seen-text)))))

;;; emacs.el ends here
