"""Shares of patches, in thousandths, with a sub-token: changes, messages.

Written by benchmarks/background.py, which has the recipe, from 3,715 pull
requests of 23 repositories; each word is in at least 3 of them.
"""

NAME = "bg1"
CHANGES = """\
625: if
523: to
519: the
508: is
461: test
453: for
422: return
416: in
405: with
402: not
399: assert
371: and
352: of
334: get
326: string
316: name
309: this
305: error
304: true
301: new
298: as
288: from
285: be
274: or that type
264: value
260: self
254: it
253: false
246: set
245: use
235: when
229: else
226: an
222: on
220: import no
219: def
216: should
203: by
194: com
191: none
190: file
188: class default
176: github https
172: are
169: path
168: all
165: code
163: str
162: has
159: null
158: result
157: can
156: equal
155: any
148: object
147: at
146: int
144: only
140: data static
139: try
138: format
136: some
135: version
132: err
130: end expected see
129: function method
128: we
125: void
124: expect list
123: create let map org var
122: run
121: add
120: one
119: case so without
118: will
117: used
116: command http ok
115: do message
114: empty func
113: but public
111: app line
110: request
109: you
108: have len private
107: exception foo output
105: config key
104: which
103: check first
102: context
101: does issues match user
100: bool git
98: fn
97: example using values
96: contains id
95: length may must non other pass then
94: after args
93: options
92: tests
91: option url
90: array text
89: api arg before param
88: package required
87: content same
86: original was
85: nil
84: node status
83: input testing
82: 10 copy into where
81: except number
80: source write
79: argument const index
78: core given os out
76: call like parse struct
75: base java size
74: instead
73: next
72: invalid join long more read
71: fail
70: express io pytest
69: json kind utf
68: also custom files include returns
67: author each start unless
66: because build mut open range time util
65: allow current eq found py python since
64: cmd description final info junit link make names
63: either flag last ref strings
62: 32 bytes copyright field ignore multiple override single
61: actual count help max print specific than under
60: 12 catch parent require there throws
59: bar here issue mode throw
58: char html now repo state while
57: dir equals up
56: append body break
55: arguments note
54: authors debug done errors internal raise super target
53: failed isinstance lines parameter skip types valid www
52: 200 block encoding header runner token
51: 11 boolean date flags language matches would writing
50: assertthat builder cli init license property verify
49: find remove still
48: handle permissions prefix short software two unwrap
47: 20 apache cannot don fix following free its server stdout support unit usage
46: both configuration continue created failure headers need order push stream
45: extends my parameters regression replace split
44: 16 application assertion been exit fmt implied instance keys licenses
43: assertions close distributed group licensed log re style such
42: 13 basis called conditions de just mark parser res
41: 00 64 access main obtain passed pre setup users work
40: always applicable branch factory interface invoke msg optional response second they
39: 14 buf buffer clone env feature hash level limitations module pub src std them unknown
38: 15 agreed attribute compliance full item law missing send tag vec warranties writer your
37: byte click commit doc element information root session standard uses via warning
36: accept already cache calls comment contain elif enabled handler integer lang removed req
 runtime select space want
35: 01 action added assertequals cfg directory doesn exists filename filter impl otherwise sub val
 warnings
34: arrays being define different echo even local location methods opts present protected
33: 30 back basic behavior ctx defined derive environment fields global hello once raises register
 requests strip
32: 2012 about auto dict enum fails insert iter keep moment objects pattern repository reset
 specified strict these update
31: attr avoid change color en expression ignored literal params post raw ruby sys system tostring
 tuple variable windows zero
30: 100 17 assertionerror based connection ensure js limit over paths resolve simple stderr through
29: 02 2009 bad cause commands exports md min process setting show what
28: 23 allowed apply black character collect contents display docs entry got matching named nested
 patch repos rs supported tmp
27: allows assert_eq available between column comments common curl diff existing flask go head
 multi returned something switch utils works
26: 18 22 42 another charset disable examples failures inside messages obj opt parsing per
 reference requires statement subcommand takes were
25: 31 abstract ascii bin cases changes child client compare containing correctly delete describe
 enable extra form host jq left partial pointer provided pull quote remaining search serialize
 slice starts thrown title tree whether
24: 123 25 collection deprecated documentation exist how inline lambda merge meta noerror num own
 possible project rule safe sequence settings shell spec sql table throwable txt
23: 04 27 agent attributes baz complete control could defaults double during float getname gmt hub
 implements items iterable jv parametrize reader running special startswith sure template those
 trailing visit
22: 21 26 50 above cl classes crate db dd disabled expecting finally fixed good login many master
 matcher net offset our pos previous relative rules specify their unexpected width
21: 09 28 60 abc assertequal bug characters comparison convert cookie correct dev escape explicit
 export generate lookup might never normal origin part reason release report seconds stable
 supports tokens too unicode view way within yaml
20: 03 2016 2019 24 accepted alias auth automatically begin below changed checks collections
 directly endif exactly generated implementation indent itself mapper mock modified off old parsed
 password point real regex results script security suppress todo typeerror undefined variant yes
19: 05 19 2015 2018 34 80 authorization branches children creates day engine every exceptions
 explicitly expr fake features force functions getvalue illegal inner install iterator label needs
 nothing partialeq pkg please properties proxy put query rather registers runs sets syntax timeout
 trim typeof well written xml
18: 06 2017 29 33 35 40 age annotation binary callable deny elements etc fi formatter frame
 getmessage idx load loc lower means policy provide received reflect remote resource right store
 success suffix to_string us wrap
17: 07 5000 accepts adding against aliases aslist cb chain cleanup details did extend fs future
 getclass helper includes including kwargs leading lock makes mapping member memory mm np sort
 suppresswarnings take thread top total tr updated useful usize valueerror world wrong
16: 1000 38 500 99 around asserttrue commits compile console constructor decode development extern
 fixture formats groups handling keyword later least library ll most owner program ptr ratelimit
 refs requested rest ret separator side sizeof stack subcommands unchecked validate very visible
 win
15: 2010 2020 36 37 39 annotations attrs bash cd clear comma compatibility completion configured
 conn defer deprecation dirname driver encode equivalent expose fa fallback foreach hooks
 integration interval less lt matchers media mod model needed page prompt redirect render
 representation resources route runners rust section sep sh skipped starting temp terminal testcase
 until verifies visitor warn working yield
14: 45 59 ab blob burnt burntsushi ca callback condition cross dc errorf event external extract fb
 filepath formatted handles hidden instanceof isempty look manager math multiline namespace newline
 operator owned panic parts passing platform position previously provides raised rename retry scope
 scopes site ss stdin sushi sync tags three times transport unix unsigned unsupported unused
 variables vary whitespace yyyy
13: 08 aa actually additional address admin arraylist assertnotnull better big built capture clean
 closed concat creating currently database detected determine due duration email execute failing
 fast fd fixes flush formatting general generic goto ident ip is_empty keywords known latest lists
 longer mem nodes perform plain pop port positional preload printf protection protocol record
 resolved sha spaces sprintf st subdomains submitted suite tab term transfer username utc versions
 views wait week whose wrapper yet
12: 41 43 47 49 absolute active adds ae as_ref assume ast bb bdd bit chars chunked ci concurrent
 container cur definition depth directories drop dummy effects events exclude exit_code fall
 fnmatch framework hook href immediately implement initial inspect installed is_some lib locale
 loop matched mkdir modify modules ms myself nov numbers operation overrides packages plugin
 prepare produce provider referrer releases repr restore rv signature span stat stop strategy team
 temporary tmpdir unwrap_or upper validation verbose year
11: 44 52 53 54 55 56 88 90 ac actions applies beginning bind bounds checking checkout codes compat
 components confirm contributors days declared dependency described developer etag executed
 execution ext fetch flatten githubusercontent glob green gt gzip however ifdef initialization
 insensitive isn iso know large links lint macro mapped models monkeypatch normalize place pr
 preserve quotes rb readme red registered rfc runwith save se selected seq shows similar snapshot
 testdir though ty underlying union unset versionchanged wd wiki writes
10: 256 400 404 46 48 51 58 68 75 again anything applied argv attempt bare bound brackets caller
 calling checked comparator comparing compatible connect consider coverage dec df dot down dump
 duplicate effect ends entire enumerate ex extension ff fill fits flat getattr hamcrest hashmap hex
 hh hint home identifier image implemented keeps lazy linked linux maybe members month necessary
 numeric op outer outside pair pallets parameterized parentheses passes patterns precedence prevent
 reading regular row rtype sa secure shared silently singleton socket sorted sources started stored
 structure td th tool treated trees uint unchanged vals walk
9: 000 2011 57 85 addr alive assignment async attributeerror ba bf blank blog br breaking cached
 cat category cc closing cls cmp columns complex component compute configure conflict conversion
 crash da dddd dependencies detect difference disk download emptylist encoded endswith entries
 environments es escaped evaluate everything exec exp expand expects experimental filemode finished
 follow fprintf freeze gen gets gui had handled handlers happens hasattr helpers hide hour
 illegalargumentexception included indentation ioexception is_none jan labels layout leaf leaves
 legacy logging logic looks ls ma mean merged meth minute mixed negative network notifications
 numpy opening overridden pip positive prefer primary processing progress projects properly ps
 readable receive reduce regardless rev separate slash small ssl status_code strlen symbol
 testclass testdata things tmp_path toml tools trace treat tue units valueof vx win32 word words
 workflow wrapped
8: 201 2014 2021 2022 2023 65 66 67 70 72 74 82 83 86 95 999 able abs according ad al asserts
 atomic authentication bc binding blue box building cargo ch col collected computed conflicts
 considered consistent constant converted copied datetime ddd decimal decorator deep del deleted
 destination differences doctype ea easy eb ec ed ee ef emit enough ensures et exact exc executable
 executor expressions extended fc fe fixtures foobar fork frozen functionality getkey gitignore
 give gnu greater ids important indexof indices internally invocation invoked isarray jun li locked
 logger mac magic making marked marker matrix minimum months move much mutex native newlines occurs
 ordering parents particular plugins png predicate press printed println problem processed produced
 proper purpose quot raising rc readthedocs recursive regexp registry related reported round
 runtimeexception sequences setenv ssh statements subclass subject successful summary terms trait
 trigger trimspace typed typing unique unmarshal uri urllib vars vs web why won yml
7: 127 140 2000 2013 2024 2025 204 62 71 76 78 81 87 92 96 98 across addition am annotated ansi
 appear as_bytes backwards bd behaviour best bracket breaks builtin captured care cast caught ce
 cert cf choice clazz combined compiled compiler completed corresponding credentials cursor cwd cx
 declare delta dictionary direct discussion displayed domain dont ds early edit enables environ eof
 eval exe extensions fatal feb few focus folder fr further getenv gl goo grep happen hasprefix
 having heads hostname hours ignores ignoring illegalstateexception incomplete incorrect indicate
 inherit initialize inputs introduced jul la languages literals lo loader loading localhost lossy
 low made malformed maps maximum milestones minutes modifier mon moved na neither newinstance
 normally notes orig oserror parallel pathbuf performance permission pi pipe placeholder points
 posix pragma prepared preserved printer printing props proxies pushed reads really recursively
 removes rendering replaced replacement reporting reports represents resulting returning reverse rg
 rw schema sent serialized serve service several share shown simply sized skipif skipping
 specifying standalone statuses stretchr stringbuilder stringify subprocess subsequent successfully
 sun tagged teams teardown testify thing third threads throwing thu timestamp today travis tries
 trying ts tt ui unable unittest unstable usr version_info whole wrapping xxx zip
6: 0000 128 168 296 345 63 69 73 77 79 89 91 93 94 97 aaa abort absent accessible af align ancestor
 anonymous appropriate arbitrary archive assertfalse assets assign assigned assumption aug await
 background backslash backward beforeall beta blobs blocks bp broken canonical caused causes
 charsequence chunk clause coder collector compared completions concrete conditional constants
 consumed contained convention creator cs daniel dash defines definitions delimiter deprecate
 derived desired detection docstring document doing downloads dynamic exclusive exitcode falls
 fatalf ffi fg fit flow focused followed fresh full_name fully generator gh guard hand hard hi
 ifndef implementing importerror indicating individual initialized instances interfaces iterables
 leave lets loaded looking lowercase macos maintainer major manually map_err markdown markers me
 memset metadata metrics middle milliseconds minor mirror mj naming nan ne nor normalized
 occurrences oct ones operations osstring outputs overwrite pages parens parsers payload plan pool
 populate prefixed preserves prev prevents preview probably problems prog prop published puts
 question quoted ra random redirects refer refresh remains repeat reply responses review rewrite rm
 safely scenario scheme seen separated setattr showing soft splitlines stmt streams stripped
 succeed supplied tell testname therefore to_owned toarray traceback tw ubuntu un unlike unlock
 unreachable unsafe unwrap_err updates uppercase urls usually validator variants versionadded warns
 whatever window worktree wraps xx yy
5: 101 1234 155 192 199 1998 248 255 300 301 401 403 61 700 84 900 9999 account affect alloc
 allowing along alpha answer ap apps aren arr artifact ask assignable association assumptions
 attached automatic avoids behaves behind bio bits boundary builds callbacks captures causing cell
 certain changing choose classname cn collectors colon colors comes compact company consume
 contexts cookies copying covers cp cr css customize dead decoded default_value delegate determined
 didn differ digit directive dropped dst duplicates el emitted enter envvar excinfo excluded
 expectedexception explanation ey fallthrough filenames filesystem filtered fine float64 fold
 follows forms forward four fullname garbage gb generics getcause getter getting goes google gpg
 graph gz hashset heading height hold holds homepage identical ie ig img implementations
 incompatible inherited ini installation int64 integers intentionally into_iter isassignablefrom
 isatty isnull isolation john lf libraries likely limited lit loads logical macro_rules manual
 map_or mar marks meaning merges mit monkey multipart mw ng nl noqa notification nul nullable nz
 oauth occur occurred often ol opened operators ops optionally ordered overflow pairs panics parses
 past pending pep percent pl pm prepend pretty prints prior proc produces production propagate
 publish pv pyproject qs quit ranges rebase redundant references reflection reject rel relevant
 remain removing rendered replaceall replaces repositories requirements resolution resolves respect
 routes rst ru safety saved sc scan scenarios sec selector setdefault setter shouldn si sibling
 signal sometimes somewhere specifies stash statuscode step strcmp strconv sum svg svn symlinks
 systems task tb tc threshold timezone tk tls together topic transform trust turn turns typically
 ul upgrade upload ur usual utility uuid ve verification violated warranty wasn ways white who wide
 wins worker write_text writefile ws xyz years zone zz
4: 0001 001 002 0123456789 01t00 10000 102 1024 103 110 120 122 124 125 1970 2001 202 240 302 304 4
 456 600 755 8601 ability accessed additions alignment almost alone alternative amd amount anyway
 apis applications aq arrow artifactid asref assertsame assignments associated backend basename
 become beforeeach begins bg bigint boom braces bundle calculate callers camel candidate capacity
 card catch_warnings certificate chdir chmod clipboard co cols combination come comp con cond
 configurable constructs consts content_type copies corrected couldn cover crlf csv curr
 current_dir declaration decoder defs degree delimited demo dependent depending deprecationwarning
 desc dest detail detailed detects digits discard displays dist distribution div dl docstrings
 doctest documented draft dual dyn earlier easier edge editor effective elementtype elt ending
 endpoint enforced enterprise entirely equality errno errorcode escaping ew expanded factor falling
 family faster ffff fileno filter_map filterwarnings fish fixme fl flattened forwarded fp frames
 from_utf8 ft funcs generation getmethod getpath gmail gr groupid guide hasnext higher hit holder
 idea identity implicit implies imported imports impossible indented indicates indirect infinite
 inheritdoc inherits inject interpreted interrupted inverse is_dir isnan iteration jar kept
 keyerror km kw lead leak letters levels lifetime light lineno listener maintain man managed
 management mask meant millisecond mingw mismatch mo mu myapp nargs navigation nb nd nesting
 nonzero notfound okay others pa paren parenthesized pascal pat pathlib peek people person pickle
 placed plus possibly potential power pp precision preferred prefixes primitive printable priority
 product prototype providing pt pull_request pypi quick qux ran reach readfile recognized
 recommended recv referenced reg rejects repeated representations reqs requirement requiring
 reserved resolver resolving resp respectively respond retention retrieve return_value reuse rf rhs
 runtimeerror sample satisfies scale scripts secret sending separately serial serialization series
 sf shape sherlock shields sig sign signatures silent similarly simulate six skips sleep slow sock
 sp spacing spanned specifically sphinx sss stats stays steps storage stringio stuff subclasses
 substitution substring subtract succeeds superclass supplier surrounding sw syntaxerror sz tables
 taken te tempdir ternary tolist tox tp track truncate trusted tty tuples twice type_name typedef
 unlink unnamed unnecessary uploaded upstream urlparse ut utilities va validated various vector ver
 verified waiting wants website whenever with_capacity workers wr yellow za zsh zw
3: 0 033 104 109 111 113 114 115 118 12345 123456789 129 131 132 133 134 135 136 143 149 150 159
 160 164 165 169 170 189 196 1999 2 2026 210 214 218 231 237 239 250 277 303 306 310 313 324 355
 378 405 411 415 420 5 509 6 740 800 8080 837 9 950 acc acceptable accessor act adapter addall
 additionally advanced affected ago alert algorithm alice alternatively although ambiguous analysis
 and_then appears apple ar arange arm as_str assumed assumes asyncio attach attempting au away
 bases becomes behave bitbucket blah blk blocked bob bold booleans bottom browse browser bs bsd
 buffered bugs builtins bump bz came cancel cap caps catches center chained changelog channel
 checksum clarity classmethod classnotfoundexception classpath closes cm coding collecting colored
 commandline commas comparable compares complexity composite compressed config_file configs
 confusing connections consecutive consistency consistently constraints construct constructed
 construction constructors contract contributing contributor convenience converting converts
 corrupt counter counts covered crashing creation critical ct dates dead_code deal dealing debugger
 debugging decide decl declaring decodes decorators dedent deepequal defining delim delimiters
 depends deprecations descriptor determines deterministic di diagnostic differently diffs digest
 directives dirs disables disabling discovery dispatch distinct distribute dk drops dumps dup dw
 dword dynamically easily efficient eg elem em embedded emits emoji enclosing encoder encountered
 english eo eol epoch esc escapes especially ever exc_info exceeds excludes exits externally
 extracted ez fact far fieldname filled filtering filters finds finish fire five flake flat_map
 floating floats floor fo forbidden forwarding fromstr gc generally generates getfailures gettype
 gg gi gives globals going grouped gs guarantees han happened happy hashes held helpful hey
 hierarchy high highlights history honor hope hosts hq human hunk identify illegalaccessexception
 images immutable improve inclusive incoming incorrectly independent infinity insertion internals
 interpolation interpret interrupt invoking ipv is_file isfile isset iterate ix ja javascript job
 kernel kg ko latter lc ld lengths listed listen little ln locals localtime locate locations logs
 longest lookups lost lstrip lv machine macros mailto malloc marshal matter maven max_value
 meaningful measure mechanism meet met mi minimal mix mk modes modifiers mostly moves msys mt
 mutually mv mz necessarily neg negate newer nf nightly nj nonexistent noop nope normalizes
 nosuchmethodexception notice notify npm nread ns octet omit omitted openssl operand ord ordinal
 originally overload overriding padding panicked partially particularly pats pb pc performed period
 perm permit peter phase pick picked platforms po populated positives powershell preceding
 prepended processes profile promise proto proxied pseudo pwd px queries quiet quite race rd react
 ready reasons receives recent records recursion refers regexes registration released remember
 removal renamed renames replacing reporter representing respects restored retentionpolicy reversed
 revert rights rn ro rows rstrip runtest sanity sb scalar searched searching sections sed seed sell
 semi semicolon sensitive servers sessions setaccessible setvalue signed significant simplefilter
 situation sl slashes slices smart snake solution someone soon specification speed splits splitting
 sq stage stale star startup states staticmethod stdio stefan steven stores strdup streaming
 strictly strips structs structured structures styled styles subdir submit submodule submodules
 suggestions suitable suites supposed surface surrogate sv sym symlink tabs tail taking tap tasks
 tear tempfile templates terminals terminate terminator tested testsuite text_type textwrap thanks
 themselves threading thus tie timeunit tip tl to_str to_vec touch tracked tracking transparent
 traversal treating trimmed trip truncated tv uid um underscore unified unquote unquoted unreleased
 unsupportedoperationexception untouched unwrap_or_else uploads useless userwarning uz vendor verb
 verbatim vim visibility visited vm volatile walking wanted wb weird whom wildcard workaround
 workflows wrappers writable wrote wt xdg xdist xe xxxx yo zt �
"""
MESSAGES = """\
595: fixes
514: to
488: fix
487: the
417: for
402: in
349: and
297: is
295: of
268: with
267: this
265: add
231: when
220: that
191: it
187: on
186: not
182: test
161: as
159: from
156: closes
141: use
138: be
135: by
130: an
122: so
114: error
109: if
102: only
101: tests was which
100: are
93: but
90: instead
89: no
86: or
83: value
82: we
78: can new
77: set
76: all code
74: default
73: change file type
70: commit support update
69: check now
67: before should using
66: added
65: also remove string
63: used
62: case make
60: docs
59: get git method
58: at path
57: has more
54: like non
53: line
52: allow name since
50: any function same
49: after where
48: adds don one without would
47: changes
46: have option
45: will
44: files
43: user
42: behavior do
41: handle other request
40: see
39: flag message there
38: some than
37: because changelog ci class fixed into return values
36: does first via
35: command correct empty issue then version
34: already errors feat its style url
33: argument both data documentation example existing false up
32: call header match object out run true
31: avoid json output previously
30: correctly parameter pre skip
29: api back format help http ignore status they time while
28: arguments config context custom exception how invalid
27: comment entry pr python single still
26: build handling methods multiple need parse py
25: being bug cases doesn each prevent resolves two were
24: about auto called end inside missing number order regression replace text them types users
 warning windows
23: array assert comments directory even just list os pass their usage work
22: better branch could field improve information longer read response returns unit
21: allows app cannot content create github include makes names options parsing rather repository
 through
20: actually adding always apply between close current fail matching none null parser passed per
 these uses way
19: against args been caused checking during fails key move paths re show strings such
18: assertion different feature following functions index input may never original parent pattern
 removed requests setting write
17: another based block body cli consistent contains derive directly doc ensure formatting go
 implement implementation link long mode open reference require required resolve result review
 struct variable verify what works you
16: actual arg attribute calls checks configuration expected flags given hooks level parameters
 patch problem revert root specific stream updated
15: access base causing changed character characters com curl keep last logic module next own
 passing previous properly release send short silently str trailing valid well
14: accept breaking causes document enabled every explicitly failure found full import lines
 literal map matches most node note possible print pytest refactor returned start those typeerror
 typo wrong
13: 10 calling cause compatibility copy currently de dir enum env expression group handler includes
 local location md objects panic real rename returning safe second serialize server source space
 standard system too
12: allowed black bytes cache clarify commands count examples explicit extra failed fixup form
 global had hub issues lint made multi must needed once over prefix property query raw redirect ref
 runner running section size sure target try utf warnings whether wrap
11: 100 around ascii assertions break click common comparison completion core coverage defined did
 disable display drop encoding escape exit failing guard handles hash headers however incorrect isn
 js length locale log main making means named optional otherwise preserve provide pull raise range
 readme rst search specified supports tag testing throw tree want working written
10: action address again annotation behaviour binary bit checked codes continue crash deprecated
 detect diff docstring fallback fields find foo ignored including init itself java javadoc keys
 loop our override present project raises restore rfc rule self shell special split state supported
 syntax take terminal though unknown unused within
9: available branches breaks built chore color condition constructor cover created defaults
 deprecation didn double due duplicate element engine ensures exist exists filter functionality
 generated here host immediately included instance integration io lib library limit many messages
 nested old param parsed point put regardless regex remote render report requires responses right
 rs seems session similar slice src subcommand table think top unchanged under validate validation
 writer zero
8: 32 64 application applied arrays automatically bad bool broken buffer clear collection
 compatible complete constant contain convert date debug dependency detection disabled doing done
 enable encoded environment expect filename follow force generate helper incorrectly internal
 introduced leading least left let lock lookup might minor my newline nil numbers off package page
 passes performance positive prevents prior problems process proxy reads relative removing repo
 reverts script sent separate sequence spaces static stdout tags template thread throws token tool
 unicode unnecessary until updates var variants versions very view why yaml
7: 12 abstract addition additional alias automatic builds byte callers catch chain classes clean
 closed cmd comparing compile connection creating definition delete description dict either else
 encode exceptions expressions extend extension failures fall feedback follows formats good handled
 happens having id implements indentation inline int introduce know later lazy links malformed mark
 max memory merge modified much native needs outside part patterns place points post printing
 prompt proper provided public reading reason redundant regular related reported resolved route
 security separator serialization sets signature simplify small starting statement std stop strip
 subcommands switch takes therefore undefined unless us useful variant whitespace whole writing
6: 16 ability absolute accepts across allowing anything append attempt backward bar bare bash big
 bind binding blocks bounds bracket bugfix builder bump callback caller certain changing clarity
 cleanup client comma commits comprehensive containing crate def define deprecate directories
 documented early easier elements entire entries equal err etc exactly extended features final
 formatted future groups handlers hook html impl implementations increase info initial insert
 install intended interface keeps literals looks magic matched modify moment moved multiline normal
 panics particular people plain plugin pointer precedence processing produce properties quotes race
 recursive reduce refs removes replaced reset rev rules runs runtime save setup shows simple
 specify stderr sub suite tab timeout times toml total treat treated unconditionally upgrade whose
 width wrapper wrapping
5: 11 15 20 80 able above according addresses adjust appear appropriate assumption ast attributes
 basic blank boolean building builtin capture cargo char child closing codecov compare configured
 confusing control cookie covering cross cursor deps details dev displayed docstrings down dropped
 emit enough escaped except exclude external extract factory falls fast few fixing fixture flow
 flush fmt free further generic gets getting gitignore gives hard head implemented implementing
 improves inconsistent indent indices initialization integer item large layout less linux lists
 load loading look lowercase macos macro manual mapping mention middleware negative net offset
 opening operator opt packages pair parameterized params parentheses pretty printed produced
 progress protect quote raised reader really reflect register registered registration reject
 replaces reporting respect resulting results rewrite routes rust semantics settings shared side
 simply skipped soft solution something specifically ssl stable started step subclass subsequent
 suffix suggested sys thing things three tmp travis treats trying turns txt typing underlying unset
 unstable variables visible walk wasn who workaround writes xx yet yml
4: 1000 14 200 204 99 aliases anyway appears applies approach aren assume auth authentication
 authors avoids backwards bb bd best box brackets cached cd checkout collect column columns
 compiler completely completions concurrent conditional confirm conflict consistency contained
 container convention corresponding covers crates creates creation ctx declaration dedicated
 deletion dependencies described development digit digits dot duration earlier easy echo editor
 effect ensuring entirely enums equivalent es executed expand export extends extensions falling
 fine folder followed formatter forwarded fully generates glob going got hidden hit idea identify
 ignores ignoring insensitive installed internally introduces invocation ip iso iterable junit kept
 keyword known latest leave leaves lets looking ls mac maintain man manually maps meant member
 merged min minimum mixed modules naming navigation newlines nodes normalize operation operations
 org overflow overhead pep pkg platform plus port positional posix prefer prepare prettier primary
 private probably produces producing program prototype provides purpose push recent references
 releases relevant removal repeated replacement repos requested rest row safely searching sending
 sense sentinel several spec specifying splits stack starts stdin store strict structs structure
 suggestions symbol sync tell temp threads throwing thrown thus tls together tokens tools track
 turn twice unexpected unfortunately unix unsupported upstream uri urls useless valueerror ve vs
 wait warn whenever win won word worktree world wrapped xml
3: 00 04 21 23 400 404 500 56 88 accepted ad affects align alone along alternative am ambiguity
 ambiguous anonymous ansi anymore apache arbitrary asserts assignment associated attached avoiding
 aware away backslash bdd begin beginning behave behind below bin broke buf bugs bundle ca
 callbacks canonical cast certificate chars colors compat compilation compiled component concern
 conditions configure conflicts connect consider consistently console constants consume containers
 contents conversion copying covered crashes css dash db debugging decoded decorator defining
 definitions deleted demonstrate dep depend dependent depending depends destination detected
 determine developers df direct directive doctest edge emitted enables ended ending ends equality
 equals escapes especially ever exact excluded exe execution exits expansion expects explaining
 explanation ext fa fact faq fb fetch filenames filepath filters finally fit fixtures float
 fragment generation generator getter guide hack happen helpful helps hence hex hide hint home
 honor identical implicit imports impossible improved incomplete inconsistency infinite injection
 inner installation inverse invoke invoked items iteration iterator keeping label leak leaving len
 license lifecycle likely ll loaded loader logger logical lot lower macros maintainer manager
 markdown marked marks mean meaning metadata minimal model modifies ms mypy necessary nor notes
 nothing npm num occur omit ones opened openssl ops originally overridden overrides ownership pairs
 parallel parens parenthesis partial permission permissions picked pip places position possibly
 preserved preserves preserving preventing printer prints processed protocol providing proxies pv
 quoted raising rb readable rebase received receives record redirects refer regexp rejected rely
 relying remain renamed renames rendered rendering replacing reports repr resolution resource
 resources reuse satisfy say scalar scenario scope seconds seem select semicolon sequences sha
 share shouldn showing shown sibling signal signatures similarly situation skipping skips sorted
 speed sphinx stale stat statements stored strategy stripped stripping strips submodule suggestion
 surface symlink systems tables tabs targets teardown temporary term terms tested thanks timing
 todo trace traversal trees tried tries trigger trim ts tuple units unittest unrelated unsafe
 unsigned ur utc util utility vars views visit waiting walking ways wide workflow wraps year zsh
"""
