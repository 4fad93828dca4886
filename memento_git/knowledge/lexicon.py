"""Lists of English words: those that say nothing, those that only ask, those that every project uses."""

from __future__ import annotations

from typing import Final

EMPTY: Final = frozenset(
    """a an the of to in on at by for from with into onto as is are was were be been being am and or it its this that
    these those there i you he she we they me him her us them my your his our their if then than so do does did has
    have had i'm it's don't""".split()
)

ASKING: Final = frozenset(
    """what whats which who whos whom whose when where wheres why how hows can could should would will shall may might
    must cannot cant doing done having about after before between during over under again also any anybody anyone
    anything some somebody someone something all both each every everyone everything much many more most other others
    another such only own same too very just ever even still yet now here out up down off per via upon within
    tell show give gave given find found list explain describe know knew known think thought mean means meant want
    wants wanted need needs needed like use uses used using get gets got getting make makes made making go goes went
    going gone come comes came coming say says said see sees saw seen look looks looked happen happens happened
    happening please thing things way ways kind kinds sort sorts long often currently really actually exactly lot lots
    let lets mine ours yours theirs themselves itself himself herself myself yourself ourselves because while though
    although however whether either neither nor but anyway somehow someplace somewhere anywhere one ones didnt doesnt
    dont isnt wasnt arent werent wont wouldnt couldnt shouldnt hasnt havent hadnt ive youve weve theyve im youre
    theyre id youd wed ill youll well work works working""".split()
)

EVERYDAY: Final = frozenset(
    """add added allow alway approach argument available avoid bad behaviour best better
    big bug call called case cause certain change check choice choose class clean clear code command common complete
    configuration configure contain convention correct create current decide decision default define delete depend
    describe design detail develop difference different directory document easy enable ensure error event exact example
    exist expect fail feature field file fix follow form format full function general good great group handle hard help
    high http idea implement important improve include input instance instead issue keep key kind large last later left
    level limit line list live local locate low
    main manage matter maximum mean message method minimum missing mode module move multiple
    name necessary new next note number object old open option order output parameter part pass path person place plan
    point policy possible prevent previous problem process produce program project provide purpose put question quick
    raise reach read real reason recommend remain remove rename replace request require response result return right
    role rule run safe save second section select send separate set setting setup share short simple single size slow
    small software solution solve source special specific standard start state status step stop store string structure
    style suggest support switch system table take task team test text title together tool top total track true try turn
    type under understand update user valid value variable version view wait word write wrong""".split()
)

SHORT: Final = dict(
    pair.split("=")
    for pair in """admin=administrator app=application arg=argument async=asynchronous auth=authentication
    authn=authentication authz=authorization char=character cmd=command conf=configuration config=configuration
    ctx=context db=database dep=dependency deps=dependency dev=development dict=dictionary dir=directory doc=document
    env=environment err=error exec=execute func=function gc=garbage impl=implement info=information init=initialize
    k8s=kubernetes lib=library msg=message num=number param=parameter perf=performance perm=permission
    postgresql=postgres pref=preference prod=production ref=reference repo=repository req=request
    spec=specification stat=statistics str=string sync=synchronous temp=temporary tmp=temporary
    util=utility var=variable""".split()
)

IRREGULAR: Final = dict(
    pair.split("=")
    for pair in """arose=arise arisen=arise ate=eat eaten=eat became=become began=begin begun=begin bent=bend
    bitten=bite blew=blow blown=blow bought=buy broke=break broken=break brought=bring built=build burnt=burn
    came=come caught=catch chose=choose chosen=choose crept=creep dealt=deal did=do done=do drank=drink
    drew=draw drawn=draw driven=drive drove=drive drunk=drink dug=dig fallen=fall fed=feed fell=fall felt=feel
    fled=flee flew=fly flown=fly forbade=forbid forbidden=forbid forgot=forget forgotten=forget fought=fight
    froze=freeze frozen=freeze gave=give given=give gone=go grew=grow grown=grow heard=hear held=hold hid=hide
    hidden=hide hung=hang kept=keep knew=know known=know laid=lay leapt=leap learnt=learn led=lead left=leave
    lent=lend lit=light lost=lose met=meet mistaken=mistake mistook=mistake overcame=overcome overran=overrun
    overridden=override overrode=override overwritten=overwrite overwrote=overwrite paid=pay proven=prove
    ran=run rang=ring rebuilt=rebuild redid=redo redone=redo reran=rerun rewritten=rewrite rewrote=rewrite
    ridden=ride risen=rise rode=ride rose=rise rung=ring sang=sing sank=sink sent=send shaken=shake shone=shine
    shook=shake shot=shoot shown=show shrank=shrink shrunk=shrink slept=sleep slid=slide sold=sell sought=seek
    spelt=spell spent=spend spoke=speak spoken=speak sprang=spring sprung=spring spun=spin stole=steal
    stolen=steal stood=stand struck=strike stuck=stick sung=sing sunk=sink swam=swim swept=sweep swore=swear
    sworn=swear swung=swing taken=take taught=teach thought=think threw=throw thrown=throw told=tell took=take
    tore=tear torn=tear understood=understand undid=undo undone=undo upheld=uphold went=go withdrawn=withdraw
    withdrew=withdraw withheld=withhold woke=wake woken=wake won=win wore=wear worn=wear wove=weave woven=weave
    written=write wrote=write analyses=analysis appendices=appendix axes=axis children=child crises=crisis
    criteria=criterion data=datum diagnoses=diagnosis feet=foot halves=half hypotheses=hypothesis indices=index
    matrices=matrix men=man mice=mouse people=person phenomena=phenomenon shelves=shelf vertices=vertex
    women=woman""".split()
)

ALIKE: Final = """
    delete remove erase discard purge wipe; error fail failure exception crash fault; bug defect regression; fast
    quick rapid speed performance; slow lag latency sluggish delay; login logon signin authenticate authentication;
    password credential passphrase secret; start launch boot begin startup spawn; stop halt end terminate kill abort
    shutdown quit exit; wait block hang stick freeze stall deadlock; setting option preference configuration
    configure; parallel concurrent simultaneous concurrency; order sequence; limit maximum cap bound threshold quota
    ceiling; duplicate copy twice repeat repeated; retry reattempt repeat; picture image photo screenshot; mail
    email; customer buyer client; price cost fee charge expense; pay payment bill invoice billing; machine server
    host computer node; folder directory; function method routine procedure callable; argument parameter option flag
    switch; change modify edit alter update revise; replace swap substitute exchange; display print render; hide
    conceal mask suppress; search lookup query; save store persist keep; fetch retrieve load download read; send
    post transmit submit publish emit; check verify validate validation inspect; release ship deploy deployment
    rollout publish; revert rollback undo; move migrate migration transfer relocate; upgrade update migrate; old
    legacy deprecated obsolete outdated; new recent latest; memory ram heap; disk storage drive filesystem; cpu
    processor core; timeout deadline expire expiry expiration; schedule scheduled cron nightly periodic timer
    recurring; job task worker; queue backlog; log trace logging journal; alert alarm notify notification warn
    warning pager; metric monitor monitoring dashboard; permission access privilege authorization role; forbid deny
    refuse reject disallow prohibit ban block; allow permit grant enable; disable deactivate; hash digest checksum
    fingerprint; key identifier; unique distinct; random arbitrary; number count amount total quantity; date time
    day timestamp clock; size length; big large huge; small tiny little; empty blank null missing; split divide
    separate partition shard chunk; merge combine join union; dependency package library module; install setup
    provision; compile build; rule policy convention standard guideline; choose pick select prefer decide decision;
    avoid prevent; problem issue trouble; fix repair solve patch workaround resolve; temporary transient ephemeral;
    permanent persistent durable; response reply answer; team group crew colleague; owner maintainer responsible;
    review approve approval; language locale translation; string text; row record entry; column field attribute;
    lock mutex exclusive; thread process worker; backup snapshot dump restore; security vulnerability exploit
    attack; token key credential; certificate tls ssl https; address url link uri; route path endpoint; event
    message signal; listen subscribe watch observe; primary master leader; secondary replica standby follower;
    fallback default; mandatory required compulsory obligatory; flaky intermittent unreliable unstable sometimes;
    wrong incorrect invalid corrupt break; correct valid proper right; lose lost missing disappear vanish; overload
    flood spike burst traffic; throttle limit rate; expensive cost heavy; cancel abort; reason cause rationale
    motive; administrator superuser; regex regexp; kubernetes kubectl kube; infrastructure infra; documentation
    manual guide readme handbook wiki; login logon signin authenticate sso; asynchronous nonblocking; synchronize
    mirror replicate; inherit subclass derive; dictionary hashmap; null none nil undefined; callback hook handler;
    immutable readonly frozen freeze;
    float decimal; mock stub fake dummy; lint linter; formatter prettier format; pipeline
    workflow ci; binary executable artifact; vendor supplier provider; commit changeset revision; conflict clash
    collision; difference diff compare delta; ticket issue; transaction atomic; constraint restriction limitation;
    exclude omit skip ignore; paginate cursor offset; postgres pg; overwrite clobber; payload body;
    proxy gateway ingress; dns domain hostname; whitelist allowlist; blacklist blocklist denylist; redirect forward
    reroute; cache memoize; invalidate evict flush; stale outdated obsolete; ttl lifetime expiry; vm instance;
    encrypt cipher crypto; mfa otp totp; jwt bearer token; leak expose disclose; redact mask anonymize scrub; rotate
    renew; revoke withdraw rescind; vulnerability cve advisory; privacy gdpr pii personal; license licence; optimize
    tune; ui gui frontend; modal dialog popup overlay; css stylesheet; component widget; flicker blink flash; phone
    mobile device smartphone handset; crash segfault panic; outage downtime unavailable offline; postmortem
    retrospective retro; oncall pager rota; parse decode deserialize unmarshal; serialize encode marshal;
    spreadsheet excel xlsx; unicode utf charset; newline crlf eol linebreak; timezone utc tz; idempotent deduplicate
    dedupe; batch bulk; throughput bandwidth; oom memory; idle inactive dormant; orphan dangling unused; telemetry
    observability instrumentation; healthcheck heartbeat liveness ping; refund reimburse chargeback; discount coupon
    voucher promo; subscription tier; cart basket checkout; tax vat gst; purchase buy; stock inventory warehouse;
    budget spend cost; signup register registration enroll; tenant organization company; developer engineer
    programmer; teammate colleague coworker; newcomer beginner junior onboarding; estimate forecast predict; weekend
    saturday sunday; midnight night overnight; holiday vacation christmas; percent percentage ratio fraction;
    increase raise bump increment; decrease reduce lower shrink; throw raise; retire sunset decommission deprecate;
    convert transform cast coerce; refactor restructure rewrite reorganize; cleanup prune tidy; restore recover
    recovery; restart reboot relaunch; postpone defer delay; investigate debug diagnose troubleshoot; reproduce
    repro; mismatch inconsistent discrepancy; truncate trim cut strip; redundancy failover; toggle flag switch;
    strange weird odd unexpected; dangerous risky unsafe hazard; shell terminal console bash; uuid guid identifier;
    typo misspell; mistake blunder oversight; drawback downside disadvantage tradeoff; recommend suggest advise
    propose; snippet excerpt example sample; critical severe urgent; confusing unclear ambiguous misleading; noisy
    verbose chatty
""".split(";")  # words of which one is often said for another

ORDERS: Final = """
    add adjust again append apply ask branch break bug build call change check class clean code command commit
    continue convert copy correct create debug define delete deploy describe document documentation done edit ensure
    error example exist explain extend fail failure feature file find finish fix folder follow function generate
    give go good handle have help implement improve include install issue keep let line list look main make merge
    message method mistake module move name need new note ok open option output part pass path please print problem
    project pull push put read refactor release remove rename repo repository reproduce request result return revert
    review rewrite rule run save search see send set show simplify source start step stop support switch task tell
    test text thing todo tool try type undo update upgrade use user variable verify version view want warning way
    work write wrong
"""  # what anybody asks an agent to do, and with what: a note that shares these alone with a prompt is not about it
