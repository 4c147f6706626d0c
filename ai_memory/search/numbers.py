"""Every number that decides a rank, with where it comes from. Change one only with a measured gain.

"Sets" are the labelled sets of `bench retrieval`, measured 2026-11-30 without any model.
"""

CHUNK_SHARES = (1.0, 0.5, 0.25)
"""What a page's first, second and third best chunk add to its score. Best chunk alone: mean nDCG@10 of the sets .760,
these .792, six shares .785."""

COLUMN_WEIGHTS = (3.0, 1.5, 2.0, 1.0, 0.7)
"""bm25 weights of title; path words, tags, entities; heading; body; pairs of Han and Kana. Title 3 instead of 2:
nDCG@10 +.003 to +.008 on pages, the same on conversations and sessions. Pairs: .5 to 1 is a plateau, 2 costs .03."""

CANDIDATE_CHUNKS = 150
"""Chunks that are ranked and read; a page whose best chunk is behind them is no good answer. 100 costs .002."""

CLOSENESS = 1.0
"""How much the share of the query's letter triples that a chunk holds raises its score: 0 mean .794, 1 .799."""

ADJACENCY = 1.0
"""How much the share of the query's neighbouring word pairs that a chunk holds does. With both 1: .803."""

MOST_TRIPLES = 160
"""Triples of letters that are looked for in each passage; the rarest words come first."""
MOST_PAIRS = 64
"""Pairs of neighbouring words, from the beginning of the query. Both bound the time that a long prompt takes."""
KEPT_LETTERS = 4
ENDING = 3
"""A word of four letters or fewer must stand whole. Of a longer one the last three may differ, the first four may not.
Our own; what other values give was not kept."""

RARE_TERMS = 12
"""Of a prompt-length query only the rarest terms are asked (source: ai-memory's engine)."""
LARGE_INDEX_CHUNKS = 5_000
COMMON_SHARE = 0.2
FEWEST_TERMS = 6
"""Above so many chunks a term in more than this share of them is left out, as long as six are left. 5 % with three left
costs long conversations .04 of nDCG@10."""

FULFILLING_CHUNKS = 20_000
"""An expression that more chunks fulfil says nothing, and ranking them took 1.8 s of 100,000 (2026-11-30)."""

NEAR_CHUNKS = 200
"""That a search takes, about as many as full text ranks. What the one in their middle has counts as nothing."""
VECTOR_SHARE = 0.2
"""Of the vectors in the sum with full text, both 0 … 1: with .3 long conversations lose, with .2 no set does."""
VECTOR_SHARE_ALONE = 0.5
"""The same where the words of the question stand nowhere; between both by the square of what is not held. With MiniLM,
.2 for all → this: French on English pages .507 → .573, Spanish .290 → .326, conversations .867, the others the same."""
VECTOR_SHARE_FOREIGN = 0.8
"""For a question in another language than the pages', by an encoder that reads both. With multilingual-e5-small,
.2 → .5 → .8 → .95: Spanish on English pages .387, .631, .745, .729, French .558, .651, .697, .663."""

BELIEF_MOST = 0.95
BELIEF_DOUBT = 0.6
BELIEF_HALF_DAYS = 180
"""Confidence in a page: `most · (1 − doubt ^ sessions)`, halved in so many days since the last of them, and by each
page that contradicts it. Our own; no set tells what it is worth, so its weight is 0 until somebody gives it one."""

ENTITY_SHARE = 0.15
OBSERVATION_SHARE = 0.15
"""What the best page of these legs gains, as a share of the best page of full text: they vote, they do not lead."""

GRAPH_SHARE = 0.1
"""What a neighbour of the best page gains: it has no score of its own, only a place."""
GRAPH_SEEDS = 5

EXACT_SCORE = 2.0
"""A page whose path, id or title is the query itself stands above every sum of the other legs (1.4 at most)."""

TEMPORAL_FACTOR = 1.3
"""For a page of the time that the query names. No set holds dated pages: it outweighs one better word, not three."""

STALE_GONE = 0.8
STALE_A_COMMIT = 0.01
STALE_LEAST = 0.9
"""Factor of a page that names what is gone from its repository, and less for each commit since to a file that it names,
down to this. Our own; no set holds a repository: it turns the order of two that answer equally well."""

AUTHORITY_LEAST, AUTHORITY_MOST = 0.55, 1.50
SESSION_RECALL_BONUS = 0.25
SESSION_PENALTY = 0.15
EPISODIC_PENALTY = 0.08
STANDING_OF_KINDS = {
    "rule": 0.15,
    "decision": 0.15,
    "fact": 0.05,
    "procedure": 0.12,
    "gotcha": 0.12,
    "preference": 0.12,
    "concept": 0.07,
    "slot": 0.07,
    "session": -SESSION_PENALTY,
    "handoff": -0.15,
    "unconfirmed": -0.10,
}
STANDING_OF_TIERS = {"semantic": 0.10, "procedural": 0.10, "episodic": -EPISODIC_PENALTY, "working": -0.03}
STANDING_OF_FOLDERS = {"_lint/": -0.20, "investigations/": -0.05}
STANDING_OF_SOURCES = 0.20
STANDING_OF_ACTIVE = 0.05
STANDING_OF_PINNED = 0.08
STANDING_AT_MOST = {"do-not-answer-from": 0.55, "test-fixture": 0.55, "superseded": 0.65, "historical": 0.80}
"""Source: ai-memory's table of authorities, kept as the start. Facts are our own: supported ones at 0, .05, .10, .15
give nDCG@10 .825, .827, .823, .821 on the gold set, taken for pages of their kinds .817. That what nobody confirmed
counts for less moves none of them."""

TWIN_OVERLAP = 0.9
"""Best passages that share so much of their words are one answer; the better page stands for both."""
FOLLOWING_CHARACTERS = 2_400
"""Of the chunks that follow a hit (source: ai-memory-mcp)."""

LEADERS = 5
"""Pages whose strength decides whether anything is shown."""
LEAST_STRENGTH = 0.9
LEAST_COVERAGE = 0.30
"""Of the best leader, below which the engine abstains: of questions about one conversation that are asked of another
("swapped" set) 84.8 % get no answer, and .81 points of recall at 10 are lost; coverage of .35 loses 1.16 for 85.1 %.
Questions whose answering page was taken out ("removed" set) are told in 10 % only: other pages speak of the same
things."""
TAIL_SHARE = 0.1
"""A page that holds less than this share of what the best one holds is left out. 0.2 costs 1 to 3 points of any@5 in
Japanese and Chinese, where no word has an ending to be held without. Nothing is left out below the full height of the
bar: 0.1 cost one question of 35 in the smallest set."""
FULL_BAR_CHUNKS = 1_000
"""From so many chunks the bar stands at its full height. 82 chunks at full height lost a fifth of the answers."""
LOWEST_BAR = 0.35
"""Of the bar for coverage, however small the index: one word of eleven is no answer. The weakest answer of a set of 82
chunks holds .17 of its question."""
FEW_CHUNKS = 50
"""Below so many, bm25 does not tell a weak match from a strong one: the index of a new user."""
PARTIAL_COVERAGE = 0.5
"""Where no leader holds half of what is asked, the answer says that it is partial, and what is missing."""
RAW_CANDIDATES = 50
"""Observations that are read where no page answers; of those that hold so much, the best are shown."""

# Which language a text is in: it lets the gate answer in part, and vectors lead.

ASKING_WORTH = 2
"""Of a word that asks, where a common word has 1: a short question holds no other small word."""
QUESTION_WORTH = 2
"""By which a question tells its language: one common word alone is a name or a quotation as often."""
PASSAGE_WORTH = 3
"""Different words that a passage of 600 characters in that language holds nearly always, and one in another hardly."""
RELATED_WORTH = 0.5
"""Of the worth of its own language what a text tells of a close one, too, as Spanish of Portuguese. A question in that
one is not foreign. For English it does not hold: English pages about French hold as much of it."""
LETTERS_A_SIGN = {"Chinese or Japanese": 3, "Korean": 2}
"""Letters of another script that say as much as one sign."""
QUESTION_SIGNS = 0.3
"""Of a question's letters, from which on it is a question in that script, whatever names it holds."""
QUESTION_SIGNS_AMONG_WORDS = 0.5
"""The same of one whose words tell a language."""
PASSAGE_SIGNS = 8
PASSAGE_SIGNS_SHARE = 0.1
"""The same of a passage: one in Chinese is half names and addresses, one in English holds a few signs at most."""
TELLING_PASSAGES = 20
"""The best ones: if pages in the question's language were there, its commonest words alone would have found them."""
