/** Expressions that try to hold, fill, end or leave the service, each with the message that makes it worst. */
import type { Json } from '../../../src/domain/json.ts'

export type Hostile = Readonly<{
  name: string
  /** As one expression of `inputTransforms`, or a schema for `inputValidation`. */
  expression?: string
  schema?: Json
  message?: () => Json
  /** What may be answered, in either mode: an HTTP status, with the code of a failure. */
  answers: RegExp
}>

const FAILS = /^500 TRANSFORM_FAILED$/
/** What is harmless may also be answered. */
const ANY = /^(?:200|500 TRANSFORM_FAILED)$/

const numbers = (count: number): Json => Array.from({ length: count }, (_, index) => index)
const word =
  (length: number): (() => Json) =>
  () => ({ text: 'a'.repeat(length) })
const list =
  (count: number): (() => Json) =>
  () => ({ list: numbers(count) })

export const EXPRESSIONS: readonly Hostile[] = [
  { name: 'a call of itself without end', expression: '($f := function(){ $f() }; $f())', answers: FAILS },
  {
    name: 'a call of itself that piles up',
    expression: '($f := function($n){ 1 + $f($n + 1) }; $f(0))',
    answers: FAILS,
  },
  {
    name: 'two calls of itself at each level',
    expression: '($f := function($n){ $n = 0 ? 1 : $f($n - 1) + $f($n - 1) }; $f(60))',
    answers: FAILS,
  },
  { name: 'a text that doubles', expression: '($f := function($t){ $f($t & $t) }; $f("ab"))', answers: FAILS },
  { name: 'a list that doubles', expression: '($f := function($l){ $f($append($l, $l)) }; $f([1]))', answers: FAILS },
  {
    name: 'an object that holds itself twice, level by level',
    expression: '($f := function($o, $n){ $n = 0 ? $o : $f({"a": $o, "b": $o}, $n - 1) }; $string($f({}, 60)))',
    answers: FAILS,
  },
  { name: '$pad of a billion', expression: '$pad("", 1e9, "x")', answers: FAILS },
  { name: '$pad of a billion to the left', expression: '$pad("", -1e9, "xy")', answers: FAILS },
  { name: '$pad by what is no number', expression: '$pad("", 1/1e-308 * 10, "x")', answers: FAILS },
  { name: '$pads joined', expression: '$join([1..100].$pad("", 8000000, "x"))', answers: FAILS },
  {
    name: '$join of many long texts',
    expression: '$join([1..100000].($$.requestBody.text))',
    message: word(100_000),
    answers: FAILS,
  },
  {
    name: '$string of what was shared',
    expression: '($a := [1..100000]; $string([$a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a]))',
    answers: ANY,
  },
  {
    name: '$base64encode again and again',
    expression: '($f := function($t){ $f($base64encode($t)) }; $f("abc"))',
    answers: FAILS,
  },
  {
    name: '$encodeUrlComponent again and again',
    expression: '($f := function($t){ $f($encodeUrlComponent($t)) }; $f("%%%"))',
    answers: FAILS,
  },
  {
    name: '$replace by more than it finds',
    expression: '($f := function($t){ $f($replace($t, "a", "aaaaaaaaaa")) }; $f("a"))',
    answers: FAILS,
  },
  {
    name: '$replace of every character by a long text',
    expression: '$replace(requestBody.text, /a/, $pad("", 1000000, "b"))',
    message: word(100_000),
    answers: FAILS,
  },
  {
    name: '$replace by a text, everywhere',
    expression: '$replace(requestBody.text, "a", $pad("", 1000000, "b"))',
    message: word(100_000),
    answers: FAILS,
  },
  { name: '$split into each character', expression: '$split($pad("", 8000000, "a"), "")', answers: FAILS },
  { name: '$split by a pattern', expression: '$split($pad("", 8000000, "a"), /a/)', answers: FAILS },
  { name: '$match of each character', expression: '$match($pad("", 8000000, "a"), /a/)', answers: FAILS },
  {
    name: 'a pattern that backtracks',
    expression: '$match(requestBody.text & "!", /(a+)+b/)',
    message: word(100_000),
    answers: ANY,
  },
  {
    name: 'a pattern with many groups',
    expression: `$match(requestBody.text, /${'(a?)'.repeat(200)}${'a'.repeat(200)}/)`,
    message: word(5_000),
    answers: ANY,
  },
  {
    name: 'a pattern that looks for the end each time',
    expression: '$split(requestBody.text, /a*b/)',
    message: word(500_000),
    answers: ANY,
  },
  {
    name: 'a function in place of a pattern',
    expression:
      '$match("abc", function($s){ {"match": "", "start": 0, "end": 0, "groups": [], "next": function(){ {"match": "", "start": 0, "end": 0, "groups": []} }} })',
    answers: ANY,
  },
  {
    name: 'a matcher that never ends',
    expression:
      '($m := function($s){ {"match": "a", "start": 0, "end": 1, "groups": [], "next": function(){ $m($s) }} }; $replace("abc", $m, "b"))',
    answers: FAILS,
  },
  { name: 'a range of ten millions', expression: '$sum([0..9999999])', answers: FAILS },
  { name: 'ranges within ranges', expression: '[1..1000].[1..1000].[1..1000]', answers: ANY },
  {
    name: 'a product of lists',
    expression: '$count(requestBody.list.($x := $; $$.requestBody.list.($x + $)))',
    message: list(20_000),
    answers: FAILS,
  },
  {
    name: '$map in $map',
    expression: '$map(requestBody.list, function($a){ $sum($map($$.requestBody.list, function($b){ $a * $b })) })',
    message: list(10_000),
    answers: FAILS,
  },
  {
    name: 'a comparator that never ends',
    expression: '$sort([3, 2, 1], function($a, $b){ ($f := function(){ $f() }; $f()) })',
    answers: FAILS,
  },
  {
    name: 'a comparator that contradicts itself',
    expression: '$count($sort(requestBody.list, function($a, $b){ $random() > 0.5 }))',
    message: list(100_000),
    answers: ANY,
  },
  {
    name: '$distinct of large objects',
    expression: '$count($distinct(requestBody.list.{"n": $, "o": $$.requestBody.list[[0..50]]}))',
    message: list(3_000),
    answers: ANY,
  },
  {
    name: '$reduce that appends',
    expression: '$count($reduce(requestBody.list, function($a, $b){ $append($a, [$b, $b]) }, []))',
    message: list(40_000),
    answers: ANY,
  },
  { name: '$merge of many objects', expression: '$merge([1..100000].{$string($): $})', answers: ANY },
  {
    name: '$reduce by $merge',
    expression: '$reduce([1..100000], function($a, $b){ $merge([$a, {$string($b): $b}]) }, {})',
    answers: FAILS,
  },
  {
    name: '$each over each',
    expression:
      '($o := $merge([1..3000].{$string($): $}); $count($each($o, function($v){ $each($o, function($w){ $v + $w }) })))',
    answers: FAILS,
  },
  {
    name: '$spread and $zip',
    expression: '$count($zip(requestBody.list, requestBody.list, requestBody.list, $spread(requestBody.list)))',
    message: list(100_000),
    answers: ANY,
  },
  {
    name: '$shuffle, again and again',
    expression: '($f := function($l){ $f($shuffle($l)) }; $f([1..100000]))',
    answers: FAILS,
  },
  {
    name: 'every descendant of every descendant',
    expression: '$count(**.**.**)',
    message: () => ({ a: Array.from({ length: 300 }, (_, n) => ({ b: { c: { d: n } } })) }),
    answers: ANY,
  },
  {
    name: 'parents of parents',
    expression: 'requestBody.**.%.**.%',
    message: list(10_000),
    answers: /^400 CONFIGURATION_INVALID$/,
  },
  {
    name: 'a join of lists by positions',
    expression: 'requestBody.list@$a.$$.requestBody.list@$b[$a = $b].($a & $b)',
    message: list(10_000),
    answers: FAILS,
  },
  {
    name: 'grouping by each',
    expression: 'requestBody.list{$string($): $$.requestBody.list}',
    message: list(3_000),
    answers: ANY,
  },
  { name: 'a picture that is wide', expression: '$formatNumber(1, $pad("", 8000000, "0"))', answers: FAILS },
  { name: 'a number of many words', expression: '$formatInteger(1e300, "w")', answers: ANY },
  { name: 'a number in Roman digits', expression: '$formatInteger(1e15, "I")', answers: ANY },
  { name: 'a number in letters', expression: '$formatInteger(1e300, "a")', answers: ANY },
  {
    name: 'a date in an ambiguous picture',
    expression: '$toMillis("1111111111111111111111111111111111111111x", "[Y][M][D][H][m][s][f]")',
    answers: ANY,
  },
  {
    name: '$eval of a text that grows',
    expression: '($f := function($t){ ($eval("1+1"); $f($t & "+1")) }; $f("1"))',
    answers: FAILS,
  },
  {
    name: '$eval of parentheses',
    expression: '$eval($join([1..60000].("(")) & "1" & $join([1..60000].(")")))',
    answers: FAILS,
  },
  {
    name: 'the prototype, by name',
    expression:
      '{"a": requestBody.__proto__.polluted, "b": requestBody.constructor.constructor("return process")(), "c": $lookup({}, "__proto__")}',
    answers: ANY,
  },
  {
    name: 'the prototype, written',
    expression: '$merge([{"__proto__": {"polluted": 1}}, {"constructor": {"prototype": {"polluted": 1}}}])',
    answers: ANY,
  },
  {
    name: 'the engine, through its functions',
    expression: '($s := $string; $s.implementation.constructor("return process")())',
    answers: ANY,
  },
  {
    name: 'a transform of itself, deeper and deeper',
    expression: '($f := function($o){ $f({"a": $o}) }; $f({}))',
    answers: FAILS,
  },
  {
    name: 'a composition of compositions',
    expression: '($f := function($n){ $n = 0 ? function($x){ $x } : $f($n - 1) ~> $f($n - 1) }; $f(40)(1))',
    answers: FAILS,
  },
  {
    name: 'an update of every part',
    expression: '$ ~> |**|{"a": **}|',
    message: () => ({ a: Array.from({ length: 100 }, (_, n) => ({ b: { c: n } })) }),
    answers: ANY,
  },
  { name: 'an error that is huge', expression: '$error($pad("", 8000000, "e"))', answers: FAILS },
  {
    name: 'a value in an error that is huge',
    expression: 'requestBody.text + 1',
    message: word(1_000_000),
    answers: FAILS,
  },
  {
    name: 'a result that is huge',
    expression: '[1..100000].$$.requestBody.text',
    message: word(1_000),
    answers: FAILS,
  },
]
