/** XML that is well-formed however unusual, and what is read from it. */
import { type AcceptedCase, type Body, bytes, latin1, utf16be, utf16le } from './corpus.ts'

const CASES: [name: string, body: Body, gives?: string, type?: string][] = [
  ['root_empty', '<a/>', '""'],
  ['root_text', '<a>x</a>', '"x"'],
  ['root_space_in_tags', '<a\n><b\t/></a >', '{"b":""}'],
  ['around_root', '\n<?x?><!-- a -->\n<a/>\n<!-- b --><?y z?>\n', '""'],
  ['text_greater_than', '<a>1 > 0 ]] ></a>', '"1 > 0 ]] >"'],
  ['text_references', '<a>&#65;&#x42;&#x1F600;</a>', '"AB😀"'],
  ['text_reference_not_read_twice', '<a>&amp;lt;&#38;amp;</a>', '"&lt;&amp;"'],
  ['text_line_ends', '<a>1\r\n2\r3</a>', '"1\\n2\\n3"'],
  ['cdata_markup', '<a><![CDATA[<b>&amp;</b>]]></a>', '"<b>&amp;</b>"'],
  ['cdata_end_divided', '<a><![CDATA[x]]]]><![CDATA[>y]]></a>', '"x]]>y"'],
  ['comment_with_markup', '<a><!-- <b> & ]]> - - -->x</a>', '"x"'],
  ['instruction_with_markup', '<a><?pi <b> & ? > -- ?>x</a>', '"x"'],
  ['names_of_objects', '<a><__proto__>1</__proto__><constructor/></a>', '{"__proto__":"1","constructor":""}'],
  ['attribute_names_of_objects', '<a __proto__="1"/>', '{"$":{"__proto__":"1"}}'],
  ['attribute_white_space', '<a b="1\n2\t3"/>', '{"$":{"b":"1 2 3"}}'],
  ['attribute_quotes', `<a b='"' c="'"/>`, '{"$":{"b":"\\"","c":"\'"}}'],
  ['namespace_prefix', '<p:a xmlns:p="urn:p" p:b="1"><p:c/></p:a>', '{"$":{"xmlns:p":"urn:p","p:b":"1"},"p:c":""}'],
  [
    'namespace_default_and_none',
    '<a xmlns="urn:a"><b xmlns="">1</b></a>',
    '{"$":{"xmlns":"urn:a"},"b":{"_":"1","$":{"xmlns":""}}}',
  ],
  [
    'namespace_prefixes_of_one_name',
    '<a xmlns:p="u" xmlns:q="u"><p:b>1</p:b><q:b>2</q:b></a>',
    '{"$":{"xmlns:p":"u","xmlns:q":"u"},"p:b":"1","q:b":"2"}',
  ],
  ['namespace_undeclared', '<p:a><q:b/></p:a>', '{"q:b":""}'],
  ['nesting_64', '<a>'.repeat(64) + '</a>'.repeat(64), `${'{"a":'.repeat(63)}""${'}'.repeat(63)}`],
  ['encoding_utf8_mark', bytes(0xef, 0xbb, 0xbf, '<a>ü</a>'), '"ü"'],
  ['encoding_utf8_mark_over_declaration', '\ufeff<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>', '"ü"'],
  ['encoding_latin1_declared', latin1('<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>'), '"ü"'],
  [
    'encoding_header_over_declaration',
    '<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>',
    '"ü"',
    'application/xml; charset=utf-8',
  ],
  ['encoding_latin1_header', latin1('<a>ü</a>'), '"ü"', 'application/xml; charset=iso-8859-1'],
  ['encoding_utf16le_mark', utf16le('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>ü😀</a>'), '"ü😀"'],
  ['encoding_utf16be_mark', utf16be('\ufeff<a>ü😀</a>'), '"ü😀"'],
  ['encoding_utf16be_undeclared', utf16be('<a>ü</a>'), '"ü"'],
  ['encoding_mark_over_header', utf16le('\ufeff<a>ü</a>'), '"ü"', 'application/xml; charset=utf-8'],
  ['character_c1_control', '<a>\u0085</a>', '"\u0085"'],
  ['character_beyond_the_first_plane', '<a>\u{10ffff}\u{10000}</a>', '"\u{10ffff}\u{10000}"'],
]

export const XML_ACCEPTED: readonly AcceptedCase[] = CASES.map(([name, body, gives, type]) => ({
  name,
  body,
  ...(gives === undefined ? {} : { gives }),
  ...(type === undefined ? {} : { type }),
}))
