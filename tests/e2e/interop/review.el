;;; review.el --- A whole review by eglot, without client code: see workload.py.  -*- lexical-binding: t -*-

(require 'cl-lib)
(require 'json)
(require 'eglot)
(require 'flymake)

(defvar seen-messages nil "What was shown in the echo area, newest first.")
(advice-add 'message :before
            (lambda (&rest said) (when (car said) (push (apply #'format said) seen-messages))))

(defun seen-wait (what done)
  "Read from the server until DONE returns non-nil; WHAT is waited for."
  (let ((end (+ (float-time) 60)) found)
    (while (not (setq found (funcall done)))
      (when (> (float-time) end) (error "Waited in vain for %s" what))
      (accept-process-output nil 1))
    found))

(load (getenv "EXCISE_CONFIG") nil t t)
(find-file (getenv "EXCISE_FILE"))
(buffer-enable-undo)
(defvar seen-buffer (current-buffer))
(run-hooks 'post-command-hook)          ; there is no command loop in batch
(seen-wait "the server" (lambda () (eglot-managed-p)))
(defvar seen-marks
  (seen-wait "the candidates" (lambda () (flymake-start) (flymake-diagnostics))))

(defun seen-text ()
  "Return the text of the file as it is shown."
  (with-current-buffer seen-buffer
    (buffer-substring-no-properties (point-min) (point-max))))

(defun seen-choose (title &optional line)
  "Pick the action that begins with TITLE in the menu on LINE, from 0."
  (set-buffer seen-buffer)
  (goto-char (point-min))
  (forward-line (or line 0))
  (let ((last-nonmenu-event ?a)         ; the keyboard, not a menu
        (eglot-confirm-server-initiated-edits nil))
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (&rest _) t)) ; "Server wants to edit: .. Proceed?"
              ((symbol-function 'completing-read)
               (lambda (_prompt items &rest _)
                 (or (car (cl-find-if (lambda (item) (string-prefix-p title (car item))) items))
                     (error "No action is called %s" title)))))
      (undo-boundary)
      (eglot-code-actions (point) (point) nil t))))

(defun seen-page (title)
  "Return the text of the page whose path is shown when TITLE is picked."
  (setq seen-messages nil)
  (seen-choose title)
  (let ((path (seen-wait title
                         (lambda ()
                           (cl-some (lambda (said)
                                      (and (string-match "Open \\(/[^\n]+\\)" said)
                                           (match-string 1 said)))
                                    seen-messages)))))
    (with-temp-buffer (insert-file-contents path) (buffer-string))))

(defun seen-edited (title &optional line)
  "Pick TITLE on LINE; return the text that it leaves."
  (let ((tick (buffer-chars-modified-tick seen-buffer)))
    (seen-choose title line)
    (seen-wait title (lambda () (> (buffer-chars-modified-tick seen-buffer) tick)))
    (seen-text)))

(defun seen-undo ()
  "Undo the last edit; return the text."
  (with-current-buffer seen-buffer
    (undo-boundary)
    (let ((last-command nil)) (undo))
    (seen-text)))

(defvar seen-pages
  (vconcat (mapcar #'seen-page '("Compare the candidates of this repository"
                                 "Show this file as ada has it" "Show this file as bo has it"))))
(defvar seen-hunk (seen-edited "Take the lines of ada here" (string-to-number (getenv "EXCISE_LINE"))))
(defvar seen-undone (seen-undo))
(defvar seen-file (seen-edited "Take this file from bo"))
(seen-undo)
(defvar seen-whole (seen-edited "Take all files from bo"))
(defvar seen-beside
  (with-current-buffer
      (find-file-noselect (expand-file-name "b.py" (file-name-directory (getenv "EXCISE_FILE"))))
    (buffer-string)))
(seen-undo)
(defvar seen-refused
  (condition-case failure (progn (seen-choose "Take all files from ada") "") (error (format "%s" failure))))

(eglot-shutdown (eglot-current-server))
(with-temp-file (getenv "EXCISE_SEEN")
  (insert (json-encode
           `((pages . ,seen-pages) (hunk . ,seen-hunk) (undone . ,seen-undone) (file . ,seen-file)
             (whole . ,seen-whole) (beside . ,seen-beside) (refused . ,seen-refused)))))

;;; review.el ends here
