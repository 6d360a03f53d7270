/** Texts that attack a page which shows them, and how the console must show each. */

export type Payload = Readonly<{
  text: string
  /** With the marks of the console in place of invisible characters. */
  shown: string
}>

const same = (text: string): Payload => ({ text, shown: text })

const MARKUP = [
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(2)>',
  '<script>alert(3)</script>',
  '</script><script>alert(4)</script>',
  '</textarea></title></style><img src=x onerror=alert(5)>',
  '"><b onmouseover=alert(6)>',
  "' autofocus onfocus=alert(7) x='",
  '<iframe srcdoc="<script>alert(8)</script>"></iframe>',
  '<a href="javascript:alert(9)">x</a>',
  '<style>*{display:none}</style>',
  '<base href=//evil.example/>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<form action=//evil.example><button autofocus>x</button></form>',
  '<!--><img src=x onerror=alert(15)>-->',
  '<![CDATA[<img src=x onerror=alert(16)>]]>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(17)>',
  '<template><script>alert(18)</script></template>',
]

const URLS = [
  'javascript:alert(19)',
  'data:text/html,<script>alert(20)</script>',
  '//evil.example/x',
  'https://evil.example/?a=b&c=d#e',
  '../../../../etc/passwd',
]

const TEXTS = [
  '&lt;b&gt; &amp; &#x41; &quot;',
  '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  '{{constructor.constructor("alert(26)")()}}',
  '$(alert(27)) <%= 7*7 %> #{7*7} [[7*7]]',
  'expression(alert(28));}*{background:url(//evil.example)}',
  "'; DROP TABLE messages;--",
  '%s%n%x %00 %u0041',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'W'.repeat(190),
  'Z\u0321\u0356\u031c\u0336a\u0334\u0354l\u0317g\u0327o',
]

/** `shown` is written out: the console's own table of characters is what is tested. */
const HIDDEN: readonly Payload[] = [
  { text: 'photo\u202egpj.exe\u202c', shown: 'photoU+202Egpj.exeU+202C' },
  { text: '\u2066\u2067isolated\u2069', shown: 'U+2066U+2067isolatedU+2069' },
  { text: 'pay\u200bload\ufeff!', shown: 'payU+200BloadU+FEFF!' },
  { text: 'tag\u{e0041}\u{e007f}', shown: 'tagU+E0041U+E007F' },
  { text: 'bell\u0007escape\u001b[31m\u0000end', shown: 'bellU+0007escapeU+001B[31mU+0000end' },
  { text: 'line\u2028paragraph\u2029next\u0085csi\u009b', shown: 'lineU+2028paragraphU+2029nextU+0085csiU+009B' },
]

export const PAYLOADS: readonly Payload[] = [...[...MARKUP, ...URLS, ...TEXTS].map(same), ...HIDDEN]

/** Those that have characters which a name on one line may not have. */
export const isOneLine = ({ text }: Payload): boolean => !/\p{Cc}/u.test(text)

/** For bodies only: names elsewhere are bounded. */
export const LONG_NAME = `<img src=x onerror=alert(64)>${'n'.repeat(65_536)}`

/** As the console shows a part of JSON: controls below U+0020 are escaped already. */
export function shownJson({ text }: Payload): string {
  const written = JSON.stringify(text).slice(1, -1)
  return written.replace(/[\u0080-\u009f\u200b\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu, (character) =>
    `U+${character.codePointAt(0)?.toString(16).toUpperCase()}`.replace(/\+(?=..$)/, '+00'),
  )
}
