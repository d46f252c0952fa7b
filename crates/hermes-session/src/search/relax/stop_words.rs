//! Stop words by language. Where a word is split, such as at an apostrophe, its parts are listed.

pub(super) const ENGLISH: &str = "\
    a about after again all also am an and any anyone anything are aren as at be because been before being but by \
    can cannot could couldn d did didn do does doesn doing don down during each else ever every for from further get \
    gets getting got had hadn has hasn have haven having he her here hers herself him himself his how i if in into \
    is isn it its itself just ll m many maybe me mine more most much my myself no nor not now of off on once one \
    only or other our ours ourselves out over own please re remember remind s said same say shall she should shouldn \
    since so some somebody someone something still such t tell than that the their theirs them themselves then there \
    these they thing things this those though through to too until up us ve very was wasn we were weren what when \
    where whether which while who whom whose why will with won would wouldn yes yet you your yours yourself";

pub(super) const GERMAN: &str = "\
    ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte da \
    dabei damals damit dann das dass davon dazu dein deine deinem deinen deiner dem den denn der deren des dessen \
    dich die dies diese diesem diesen dieser dieses dir doch dort du durch eh ein eine einem einen einer eines \
    einmal er es etwas euch euer eure für gab gar gegen gewesen hab habe haben habt hast hat hatte hatten hattest \
    hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins irgendwas irgendwie irgendwo ist ja jede jedem \
    jeden jeder jedes jemand jene jetzt kann kannst kein keine keinen keiner konnte können könnte man manche mehr \
    mein meine meinem meinen meiner meines mich mir mit muss musst musste müssen nach nein nicht nichts noch nochmal \
    nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so solche soll sollte sollten \
    sondern sonst um und uns unser unsere unserem unseren unserer unter vom von vor wann war waren warst warum was \
    weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso wieviel will \
    wir wird wo wobei wodurch wofür woher wohin womit woran worauf worden worin worüber wovon wozu wurde wurden \
    würde zu zum zur zwischen über";

pub(super) const FRENCH: &str = "\
    a ai aie ait alors as au aucun aucune auquel aura aurait aussi autre autres aux avaient avais avait avant avec \
    avez aviez avions avoir avons ayant c car ce ceci cela celle celles celui ces cet cette ceux chez ci combien \
    comme comment d dans de depuis des dont du déjà elle elles en encore entre es est et eu eux faire fait fallait \
    faut il ils j je l la laquelle le lequel les lesquelles lesquels leur leurs lui là m ma mais me mes moi mon même \
    n ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi pu qu quand que quel \
    quelle quelles quelqu quelque quelques quels qui quoi s sa sans se sera serait ses si sommes son sont sous suis \
    sur t ta te tes toi ton tous tout toute toutes très tu un une va vais vos votre vous y ça étaient étais était \
    étant été êtes être";

pub(super) const SPANISH: &str = "\
    a acerca al algo alguien alguna algunas alguno algunos algún ante antes aquel aquella así aunque aún cada casi \
    como con contra cual cuales cualquier cuando cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta cuántas \
    cuánto cuántos cómo de del desde donde dos durante dónde e el ella ellas ellos en entonces entre era eran eras \
    eres es esa esas ese eso esos esta estaba estaban estado estar estas este esto estos estoy está están fue fueron \
    fui ha haber había habían hace hacer hacia han hasta hay he hemos hubo la las le les lo los me mi mis mismo \
    mucho muy más mí nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero \
    poco poder podía por porque puede pues que quien quienes quién quiénes qué se sea ser será si sido sin sino \
    sobre solo son soy su sus sí sólo también tan tanto te tenemos tener tengo tenía ti tiene tienen tu tus tuve tú \
    un una unas uno unos usted ustedes va vamos voy y ya yo él";

pub(super) const ITALIAN: &str = "\
    a abbiamo ad agli ai al alla alle allo anche ancora avere aveva avevamo c che chi ci cioè co come con cosa cui \
    da dagli dai dal dalla dalle dallo degli dei del dell della delle dello di do dov dove due e ed era erano \
    eravamo essere fa fatto fra fu già gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie \
    miei mio molto ne negli nei nel nell nella nelle nello no noi non nostra nostre nostri nostro o ogni per perché \
    però più po poi prima qual qualcosa qualcuno quale quali quando quanta quante quanti quanto quella quelle quelli \
    quello questa queste questi questo qui sarà se sei senza si sia siamo siete solo sono sta stata state stati \
    stato su sua sue sugli sui sul sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutti tutto un una uno \
    va vi voi è";

pub(super) const PORTUGUESE: &str = "\
    a ao aos aquela aquele aquilo as até com como da das de dela dele deles depois do dos e ela elas ele eles em \
    entre era eram essa esse esta estamos estava estavam este está estão eu foi fomos for foram há isso isto já lhe \
    mais mas me mesmo meu meus minha minhas muito na nas nem no nos nossa nossas nosso nossos num numa não nós o \
    onde os ou para pela pelas pelo pelos por porque pra quais qual quando quanta quantas quanto quantos que quem \
    quê se sem ser será seu seus sobre somos sou sua suas são só também te tem temos tenho ter teve tinha tu tua \
    tudo têm um uma umas uns vai você vocês à às é";

pub(super) const DUTCH: &str = "\
    aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er ge \
    geen geweest had hadden heb hebben hebt heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je jij \
    jou jouw jullie kan kon kunnen maar me meer men met mij mijn moest moet moeten na naar niet niets nog nu of om \
    omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want \
    waren was wat we wel welk welke werd wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou";

pub(super) const SWEDISH: &str = "\
    alla allt att av blev bli blir de dem den denna deras dess dessa det detta dig din dina ditt du där då efter ej \
    eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan \
    kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig \
    sin sina sitta skulle som så till under upp ut utan vad var vara varför varje vars vart vem vems vi vid vilka \
    vilken vilket vår våra vårt än är åt";

pub(super) const DANISH: &str = "\
    af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller \
    en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvem hvilke hvilken hvis hvor \
    hvordan hvorfor hvornår i ikke ind ingen jeg jer kan kunne man mange med meget men mig min mine mit mod mon må \
    ned nogen noget nogle nu når og også om op os over på selv sig sin skal skulle som sådan thi til ud under var vi \
    vil ville vor være været";

pub(super) const NORWEGIAN: &str = "\
    alle at av ble bli blir da de deg den denne der dere det dette di din disse ditt du eller en enn er et ett etter \
    for fra før ha hadde han hans har hennes her hos hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i \
    ikke ingen inn jeg kan kom kunne man mange med meg men mer min mitt mot noe noen nå når og også om opp oss over \
    på seg selv si sin sitt skal skulle slik som til ut var vi vil ville vår være vært";

pub(super) const POLISH: &str = "\
    a aby ale bardzo bez bo być był była było były będzie ci cię co czego czemu czy dla do gdy gdzie go i ich ile im \
    ja jak jaka jaki jakie jakiej jako je jego jej jest jestem jeszcze już kiedy komu kto która które którego której \
    który których ku lub ma mam mi mnie moja moje mu my mój na nad nam nas nasz nasza nasze nic nie niej nim niż o \
    od on ona one oni ono oraz po pod podczas przed przez przy się są ta tak także tam te tego tej ten też to tu \
    twoja twój tych tylko tym u w was we wszystko z za ze że żeby";

pub(super) const TURKISH: &str = "\
    acaba ama ancak bana bazı belki ben beni benim bir biz bize bizim bu bunu da daha de defa değil diye en gibi \
    hangi hem hep her hiç idi ile ise için kadar kaç ki kim kimin mi mu mü mı nasıl ne neden nerede nereye niye \
    niçin o olan olarak oldu olduğu ona onlar onu sen senin siz sizin var ve veya ya yani yok çok çünkü şey şu";

pub(super) const RUSSIAN: &str = "\
    а без был была были было быть в вам вас ваш во вот все всего всех всё вы где да даже для до его ее ей ему если \
    есть еще ещё её ж же за и из или им их к как какая какие каким какими каких какого какое какой каком какому \
    какую ко когда кого кому кто ли либо мне мной мог могла могли может можно мои мой моя моё мы на над надо нам \
    нами нас наш наша наше наши не него нее ней нет неё ни них но ну о об однако он она они оно от откуда очень по \
    под после потом потому почему при про с сам свои свой себе себя сейчас сколько со так также такой там те тебе \
    тебя тем то тобой тогда того тоже той только том тот тут ты у уже хотя чего чей чем через что чтобы чье чья эта \
    эти это этого этой этом этот эту я";

pub(super) const UKRAINIAN: &str = "\
    а або але без би був була були було бути в вас ви вона вони воно все всі від він де для до же з за зі й його \
    йому кого коли кому куди мене мені ми моя мій на над нам нас наш не ну ні о об один по при про саме себе скільки \
    так також там те ти то тобі того тоді ту тільки у усе хто це цей цього ці чи чий чия чого чому що щоб я як яка \
    яке який якого якому якої які є і із їй їм їх її";

pub(super) const GREEK: &str = "\
    ή ήταν α αν από για δεν είναι εγώ ειναι εκεί εμείς εσύ η θα κάτι και μέσα μας με μετά μη μια μου να ο οι ποια \
    ποιο ποιος ποιους που πού πως πόσα πόσο πότε πώς σε σου στα στη στην στις στο στον στους τα τη την της τι τις το \
    τον του τους των ως όταν ότι";
