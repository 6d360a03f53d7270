/** Expressions that try to hold, fill, end or leave the service, each with the message that makes it worst. */
import type { Json } from '../../../src/core/json.ts'

export type Hostile = Readonly<{
  name: string
  /** As one expression of `inputTransforms`, or a schema for `inputValidation`. */
  expression?: string
  schema?: Json
  message?: () => Json
  /** What may be answered, in either mode: an HTTP status, with the code of a failure. */
  answers: RegExp
}>

type Message = () => Json
const fails = (name: string, expression: string, message?: Message): Hostile => {
  const answers = /^500 TRANSFORM_FAILED$/
  return message === undefined ? { name, expression, answers } : { name, expression, message, answers }
}
/** What is harmless may also be answered. */
const mayFail = (name: string, expression: string, message?: Message): Hostile => ({
  ...fails(name, expression, message),
  answers: /^(?:200|500 TRANSFORM_FAILED)$/,
})

const numbers = (count: number): Json => Array.from({ length: count }, (_, index) => index)
const word =
  (length: number): (() => Json) =>
  () => ({ text: 'a'.repeat(length) })
const list =
  (count: number): (() => Json) =>
  () => ({ list: numbers(count) })

export const EXPRESSIONS: readonly Hostile[] = [
  fails('a call of itself without end', '($f := function(){ $f() }; $f())'),
  fails('a call of itself that piles up', '($f := function($n){ 1 + $f($n + 1) }; $f(0))'),
  fails('two calls of itself at each level', '($f := function($n){ $n = 0 ? 1 : $f($n - 1) + $f($n - 1) }; $f(60))'),
  fails('a text that doubles', '($f := function($t){ $f($t & $t) }; $f("ab"))'),
  fails('a list that doubles', '($f := function($l){ $f($append($l, $l)) }; $f([1]))'),
  fails(
    'an object that holds itself twice, level by level',
    '($f := function($o, $n){ $n = 0 ? $o : $f({"a": $o, "b": $o}, $n - 1) }; $string($f({}, 60)))',
  ),
  fails('$pad of a billion', '$pad("", 1e9, "x")'),
  fails('$pad of a billion to the left', '$pad("", -1e9, "xy")'),
  fails('$pad by what is no number', '$pad("", 1/1e-308 * 10, "x")'),
  fails('$pads joined', '$join([1..100].$pad("", 8000000, "x"))'),
  fails('$join of many long texts', '$join([1..100000].($$.requestBody.text))', word(100_000)),
  mayFail(
    '$string of what was shared',
    '($a := [1..100000]; $string([$a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a, $a]))',
  ),
  fails('$base64encode again and again', '($f := function($t){ $f($base64encode($t)) }; $f("abc"))'),
  fails('$encodeUrlComponent again and again', '($f := function($t){ $f($encodeUrlComponent($t)) }; $f("%%%"))'),
  fails('$replace by more than it finds', '($f := function($t){ $f($replace($t, "a", "aaaaaaaaaa")) }; $f("a"))'),
  fails(
    '$replace of every character by a long text',
    '$replace(requestBody.text, /a/, $pad("", 1000000, "b"))',
    word(100_000),
  ),
  fails('$replace by a text, everywhere', '$replace(requestBody.text, "a", $pad("", 1000000, "b"))', word(100_000)),
  fails('$split into each character', '$split($pad("", 8000000, "a"), "")'),
  fails('$split by a pattern', '$split($pad("", 8000000, "a"), /a/)'),
  fails('$match of each character', '$match($pad("", 8000000, "a"), /a/)'),
  mayFail('a pattern that backtracks', '$match(requestBody.text & "!", /(a+)+b/)', word(100_000)),
  mayFail(
    'a pattern with many groups',
    `$match(requestBody.text, /${'(a?)'.repeat(200)}${'a'.repeat(200)}/)`,
    word(5_000),
  ),
  mayFail('a pattern that looks for the end each time', '$split(requestBody.text, /a*b/)', word(500_000)),
  mayFail(
    'a function in place of a pattern',
    '$match("abc", function($s){ {"match": "", "start": 0, "end": 0, "groups": [], "next": function(){ {"match": "", "start": 0, "end": 0, "groups": []} }} })',
  ),
  fails(
    'a matcher that never ends',
    '($m := function($s){ {"match": "a", "start": 0, "end": 1, "groups": [], "next": function(){ $m($s) }} }; $replace("abc", $m, "b"))',
  ),
  fails('a range of ten millions', '$sum([0..9999999])'),
  mayFail('ranges within ranges', '[1..1000].[1..1000].[1..1000]'),
  fails('a product of lists', '$count(requestBody.list.($x := $; $$.requestBody.list.($x + $)))', list(20_000)),
  fails(
    '$map in $map',
    '$map(requestBody.list, function($a){ $sum($map($$.requestBody.list, function($b){ $a * $b })) })',
    list(10_000),
  ),
  fails('a comparator that never ends', '$sort([3, 2, 1], function($a, $b){ ($f := function(){ $f() }; $f()) })'),
  mayFail(
    'a comparator that contradicts itself',
    '$count($sort(requestBody.list, function($a, $b){ $random() > 0.5 }))',
    list(100_000),
  ),
  mayFail(
    '$distinct of large objects',
    '$count($distinct(requestBody.list.{"n": $, "o": $$.requestBody.list[[0..50]]}))',
    list(3_000),
  ),
  mayFail(
    '$reduce that appends',
    '$count($reduce(requestBody.list, function($a, $b){ $append($a, [$b, $b]) }, []))',
    list(40_000),
  ),
  mayFail('$merge of many objects', '$merge([1..100000].{$string($): $})'),
  fails('$reduce by $merge', '$reduce([1..100000], function($a, $b){ $merge([$a, {$string($b): $b}]) }, {})'),
  fails(
    '$each over each',
    '($o := $merge([1..3000].{$string($): $}); $count($each($o, function($v){ $each($o, function($w){ $v + $w }) })))',
  ),
  mayFail(
    '$spread and $zip',
    '$count($zip(requestBody.list, requestBody.list, requestBody.list, $spread(requestBody.list)))',
    list(100_000),
  ),
  fails('$shuffle, again and again', '($f := function($l){ $f($shuffle($l)) }; $f([1..100000]))'),
  mayFail('every descendant of every descendant', '$count(**.**.**)', () => ({
    a: Array.from({ length: 300 }, (_, n) => ({ b: { c: { d: n } } })),
  })),
  {
    name: 'parents of parents',
    expression: 'requestBody.**.%.**.%',
    message: list(10_000),
    answers: /^400 CONFIGURATION_INVALID$/,
  },
  fails('a join of lists by positions', 'requestBody.list@$a.$$.requestBody.list@$b[$a = $b].($a & $b)', list(10_000)),
  mayFail('grouping by each', 'requestBody.list{$string($): $$.requestBody.list}', list(3_000)),
  fails('a picture that is wide', '$formatNumber(1, $pad("", 8000000, "0"))'),
  mayFail('a number of many words', '$formatInteger(1e300, "w")'),
  mayFail('a number in Roman digits', '$formatInteger(1e15, "I")'),
  mayFail('a number in letters', '$formatInteger(1e300, "a")'),
  mayFail(
    'a date in an ambiguous picture',
    '$toMillis("1111111111111111111111111111111111111111x", "[Y][M][D][H][m][s][f]")',
  ),
  fails('$eval of a text that grows', '($f := function($t){ ($eval("1+1"); $f($t & "+1")) }; $f("1"))'),
  fails('$eval of parentheses', '$eval($join([1..60000].("(")) & "1" & $join([1..60000].(")")))'),
  mayFail(
    'the prototype, by name',
    '{"a": requestBody.__proto__.polluted, "b": requestBody.constructor.constructor("return process")(), "c": $lookup({}, "__proto__")}',
  ),
  mayFail(
    'the prototype, written',
    '$merge([{"__proto__": {"polluted": 1}}, {"constructor": {"prototype": {"polluted": 1}}}])',
  ),
  mayFail('the engine, through its functions', '($s := $string; $s.implementation.constructor("return process")())'),
  fails('a transform of itself, deeper and deeper', '($f := function($o){ $f({"a": $o}) }; $f({}))'),
  fails(
    'a composition of compositions',
    '($f := function($n){ $n = 0 ? function($x){ $x } : $f($n - 1) ~> $f($n - 1) }; $f(40)(1))',
  ),
  mayFail('an update of every part', '$ ~> |**|{"a": **}|', () => ({
    a: Array.from({ length: 100 }, (_, n) => ({ b: { c: n } })),
  })),
  fails('an error that is huge', '$error($pad("", 8000000, "e"))'),
  fails('a value in an error that is huge', 'requestBody.text + 1', word(1_000_000)),
  fails('a result that is huge', '[1..100000].$$.requestBody.text', word(1_000)),
]
