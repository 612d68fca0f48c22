"""The names, extensions, file names and interpreters of each grammar.

Names are grammar names of the pack, LSP language ids (those of the specification and of VS Code's
own extensions) and the usual aliases. `excise.languages` gives these tables their meaning.
"""

from __future__ import annotations

UNFIT = {"cobol": "its scanner never returns from a line of six characters or less"}
"""Grammars of the pack that are not used, and why: their texts get lexical tokens."""

# grammar | aliases | extensions
GRAMMARS = """
actionscript | as3 | as
ada | | adb ads ada
agda | | agda
apex | | cls trigger apex
arduino | | ino
asm | assembly nasm | s asm nasm
astro | | astro
bash | sh shell shellscript zsh ksh dash dotenv | sh bash zsh ksh bats env ebuild
beancount | | beancount bean
bibtex | bib | bib
bicep | | bicep bicepparam
bitbake | | bb bbappend bbclass
bsl | 1c | bsl os
c | h | c h
cairo | | cairo
capnp | capnproto | capnp
chatito | | chatito
clarity | | clar
clojure | clojurescript | clj cljs cljc edn
cmake | | cmake
comment | |
commonlisp | lisp common-lisp cl | lisp lsp asd
cpon | | cpon
cpp | c++ cplusplus objective-cpp objectivecpp objective-c++ | cpp cc cxx c++ hpp hh hxx h++ ipp ixx
cpp | | cppm inl tpp mm
csharp | cs c# | cs csx cake
css | | css
csv | | csv
cuda | cuda-cpp | cu cuh
d | dlang | d di
dart | | dart
dockerfile | docker containerfile | dockerfile containerfile
doxygen | |
dtd | | dtd
elisp | emacs-lisp | el
elixir | | ex exs
elm | | elm
embeddedtemplate | erb ejs eruby | erb ejs
erlang | | erl hrl escript xrl yrl
fennel | | fnl
firrtl | | fir
fish | | fish
fortran | fortran-modern fortran_free-form fortran_fixed-form | f f77 f90 f95 f03 f08 for ftn fpp
fsharp | f# fs | fs fsx fsscript
fsharp_signature | fsharp-signature | fsi
func | | fc func
gdscript | | gd
gitattributes | | gitattributes
gitcommit | git-commit |
gitignore | ignore | gitignore
gleam | | gleam
glsl | | glsl vert frag geom comp tesc tese
gn | | gn gni
go | golang | go
gomod | go.mod |
gosum | go.sum |
graphql | gql | graphql gql graphqls
groovy | | groovy gradle gvy
gstlaunch | |
hack | hacklang | hack hck
hare | | ha
haskell | | hs hs-boot hsc
haxe | hx | hx
hcl | | hcl nomad
heex | phoenix-heex | heex
hlsl | | hlsl hlsli fx fxh
html | xhtml | html htm xhtml shtml
hyprlang | hyprland | hl
ini | | ini cfg desktop service socket timer
ispc | | ispc isph
janet | | janet jdn
java | | java jav
javascript | js jsx javascriptreact node ecmascript | js jsx mjs cjs es6
jsdoc | |
json | jsonc jsonl ndjson geojson snippets | json jsonc jsonl ndjson geojson webmanifest ipynb
json | | code-workspace
jsonnet | | jsonnet libsonnet
julia | | jl
kconfig | |
kdl | | kdl
kotlin | kt kts | kt kts ktm
latex | tex | tex sty ltx dtx
linkerscript | ld | ld lds
llvm | llvm-ir | ll
lua | | lua rockspec nse p8
luadoc | |
luap | |
luau | | luau
magik | | magik
make | makefile gnumake mk | mk mak
markdown | md rmd quarto mdx | md markdown mdown mkd mkdn mdx rmd qmd
markdown_inline | |
matlab | octave | matlab
mermaid | | mmd mermaid
meson | |
netlinx | | axs axi
nim | | nim nims nimble
ninja | | ninja
nix | | nix
nqc | | nqc
objc | objective-c objectivec obj-c | m
ocaml | ml | ml eliom
ocaml_interface | ocaml-interface ocaml.interface mli | mli eliomi
odin | | odin
org | org-mode | org
pascal | delphi objectpascal | pas dpr lpr dpk
pem | | pem
perl | pl | pl pm pod t psgi
pgn | | pgn
php | | php php3 php4 php5 phtml phpt ctp
po | gettext | po pot
pony | | pony
powershell | pwsh ps1 | ps1 psm1 psd1
printf | |
prisma | | prisma
properties | java-properties | properties
proto | protobuf proto2 proto3 | proto
psv | | psv
puppet | | pp
purescript | | purs
pymanifest | |
python | py python3 python2 | py pyi pyw py3 pyde pyx pxd wsgi
qmldir | |
qmljs | qml | qml qbs
query | tree-sitter-query |
r | rlang | r
racket | | rkt rktd rktl scrbl
re2c | | re2c
readline | inputrc |
rego | opa | rego
requirements | pip-requirements |
ron | | ron
rst | restructuredtext rest | rst rest
ruby | rb | rb rake gemspec ru podspec jbuilder thor rbi
rust | rs | rs
scala | | scala sbt sc
scheme | scm | scm ss sld sls sps
scss | | scss
smali | | smali
smithy | | smithy
solidity | sol | sol
sparql | | rq sparql
sql | mysql postgres postgresql plsql tsql sqlite | sql ddl dml pgsql psql mysql
squirrel | | nut
starlark | bazel bzl | bzl star bazel
svelte | | svelte
swift | | swift swiftinterface
tablegen | | td
tcl | | tcl tk exp tm
terraform | terraform-vars tf opentofu | tf tfvars tofu
test | tree-sitter-test |
thrift | | thrift
toml | | toml
tsv | | tsv tab
tsx | typescriptreact | tsx
twig | | twig
typescript | ts mts cts | ts mts cts
typst | | typ
udev | udev-rules | rules
ungrammar | | ungram
uxntal | | tal
v | vlang | vsh vv
verilog | systemverilog sv | v vh sv svh
vhdl | | vhd vhdl
vim | viml vimscript | vim vimrc
vue | | vue
wast | | wast
wat | webassembly wasm-text | wat
wgsl | | wgsl
xcompose | |
xml | xsl xslt svg xsd | xml xsl xslt svg xsd xaml plist csproj vbproj fsproj vcxproj props targets
xml | | nuspec resx rss atom wsdl rdf gml kml gpx storyboard xib launch urdf
yaml | yml dockercompose docker-compose github-actions-workflow | yml yaml cff sublime-syntax
yuck | | yuck
zig | | zig zon
"""

# grammar | file names; `name.*` is that name with anything after a dot
FILES = """
bash | .bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .zlogin
bash | .kshrc .env .env.* .envrc .xinitrc .xprofile PKGBUILD APKBUILD
clojure | project.clj
cmake | CMakeLists.txt
dockerfile | Dockerfile Dockerfile.* Containerfile Containerfile.*
elisp | .emacs Cask
elixir | mix.lock
erlang | rebar.config rebar.lock
gitattributes | .gitattributes
gitcommit | COMMIT_EDITMSG MERGE_MSG TAG_EDITMSG
gitignore | .gitignore .dockerignore .npmignore .eslintignore .prettierignore .vscodeignore
gitignore | .helmignore .gcloudignore .hgignore .ignore
gomod | go.mod
gosum | go.sum
groovy | Jenkinsfile Jenkinsfile.*
hyprlang | hyprland.conf hyprlock.conf hypridle.conf hyprpaper.conf
ini | .editorconfig .gitconfig .gitmodules .flake8 .pylintrc .coveragerc .npmrc .pypirc
javascript | Jakefile
json | .babelrc .eslintrc .prettierrc .swcrc .jshintrc composer.lock Pipfile.lock flake.lock
kconfig | Kconfig Kconfig.*
lua | .luacheckrc
make | Makefile Makefile.* GNUmakefile GNUmakefile.* BSDmakefile Kbuild
meson | meson.build meson_options.txt meson.options
perl | cpanfile Makefile.PL
puppet | Puppetfile
pymanifest | MANIFEST.in
python | SConstruct SConscript wscript
qmldir | qmldir
r | .Rprofile
readline | .inputrc inputrc
requirements | requirements.txt requirements-dev.txt requirements-test.txt requirements_dev.txt
requirements | requirements_test.txt dev-requirements.txt test-requirements.txt constraints.txt
ruby | Gemfile Rakefile Guardfile Podfile Vagrantfile Brewfile Capfile Thorfile Fastfile Appfile
ruby | Dangerfile .irbrc .pryrc
starlark | BUILD WORKSPACE BUCK Tiltfile
toml | Cargo.lock poetry.lock uv.lock pdm.lock Pipfile Gopkg.lock
vim | .vimrc _vimrc vimrc .gvimrc .exrc
xcompose | .XCompose XCompose
yaml | .clang-format .clang-tidy .clangd .yamllint .gemrc
"""

INTERPRETERS = """
bash | sh bash dash ash zsh ksh mksh pdksh bats
clojure | clojure clj bb
commonlisp | sbcl clisp ecl ccl lisp
d | rdmd
elisp | emacs
elixir | elixir iex
erlang | escript
fennel | fennel
fish | fish
fsharp | dotnet-fsi
groovy | groovy
haskell | runghc runhaskell runhugs
janet | janet
javascript | node nodejs bun gjs qjs d8 rhino
julia | julia
kotlin | kotlin
lua | lua luajit texlua
luau | luau lune
make | make gmake
ocaml | ocaml ocamlrun
matlab | octave
perl | perl
php | php
powershell | pwsh powershell
python | python pypy jython ironpython pythonw uv
r | rscript r littler
racket | racket
ruby | ruby jruby macruby rake rbx
scala | scala amm
scheme | guile gosh csi chibi-scheme chez scheme
swift | swift
tcl | tclsh wish expect jimsh
typescript | deno ts-node tsx
v | v
"""
"""Interpreters that a shebang may name, without version."""
