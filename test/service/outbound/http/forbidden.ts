/** Spellings of hosts that no request may reach; some are no host at all to the URL standard, which is as good. */
const hosts = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Of 169.254.169.254, other link-local addresses and where clouds serve credentials. */
export const METADATA: readonly string[] = [
  // As IPv4, in every number of parts and every base.
  ...hosts(`
    169.254.169.254 169.254.43518 169.16689662 2852039166 0xa9fea9fe 0xA9FEA9FE 025177524776 0251.0376.0251.0376
    00000251.0000376.0251.0376 0xa9.0xfe.0xa9.0xfe 0XA9.0XFE.0XA9.0XFE 0xa9.254.0251.254 169.254.0xa9fe 0xa9.0xfea9fe
    169.254.169.254. 0xa9fea9fe. 2852039166.
  `),
  // Digits, dots and letters beyond ASCII.
  ...hosts(`
    １６９.２５４.１６９.２５４ 169。254。169。254 169．254．169．254 ①⑥⑨.②⑤④.①⑥⑨.②⑤④ 𝟏𝟔𝟗.𝟐𝟓𝟒.𝟏𝟔𝟗.𝟐𝟓𝟒 𝟘𝟙𝟞𝟡.254.169.254
    ⓜetadata.google.internal
  `),
  // Percent-encoded.
  ...hosts(`
    %31%36%39.%32%35%34.%31%36%39.%32%35%34 169%2E254%2e169%2E254 %6detadata.google.internal
    %EF%BC%91%EF%BC%96%EF%BC%99.254.169.254
  `),
  // Behind what looks like another host.
  ...hosts(`
    example.org@169.254.169.254 example.org:80@169.254.169.254 user:password@169.254.169.254
    example.org%40@169.254.169.254 example.org%2f@169.254.169.254
  `),
  // As IPv6: mapped, compatible, translated, tunnelled.
  ...hosts(`
    [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [::FFFF:A9FE:A9FE] [0:0:0:0:0:ffff:a9fe:a9fe]
    [0000:0000:0000:0000:0000:ffff:a9fe:a9fe] [::169.254.169.254] [::a9fe:a9fe] [::ffff:0:169.254.169.254]
    [64:ff9b::169.254.169.254] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a9fe:a9fe] [64:ff9b:1:a9fe:a9:fe00::]
    [2002:a9fe:a9fe::] [2002:a9fe:a9fe::1] [2001:0:a9fe:a9fe::1] [2001::5601:5601] [2001:db8::5efe:169.254.169.254]
  `),
  // Link-local and metadata over IPv6, with zones too.
  ...hosts(`
    [fe80::1] [FE80::a9fe:a9fe] [febf:ffff::1] [fe80::1%25eth0] [fe80::1%eth0] [fd00:ec2::254]
    [fd00:0ec2:0:0:0:0:0:254] [fd00:ec2::23] [fd20:ce::254]
  `),
  // Others.
  ...hosts(`
    169.254.170.2 169.254.0.1 100.100.100.200 0x646464c8 1684301000 168.63.129.16 192.0.0.192
    metadata.google.internal METADATA.GOOGLE.INTERNAL metadata.google.internal. metadata.goog
    metadata。google。internal
  `),
]

/** Of this machine. */
export const LOOPBACK: readonly string[] = hosts(`
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 017700000001 0177.0.0.1 0177.0.0.01 0000177.0.0.1
  127.0.0.1. 127.0.0.0x1 127.255.255.254 0 0.0.0.0 0x0 00000 0.0 １２７.０.０.１ 127。0。0。1 ①②⑦.⓪.⓪.① 𝟏𝟐𝟕.𝟎.𝟎.𝟏
  %31%32%37.0.0.1 127%2e0%2e0%2e1 example.org@127.0.0.1 example.org:443@127.0.0.1 [::1] [0:0:0:0:0:0:0:1]
  [0000:0000:0000:0000:0000:0000:0000:0001] [::] [::0] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1]
  [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::] [2001::80ff:fffe] [::ffff:0.0.0.0] localhost LOCALHOST
  localhost. ⓛocalhost %6cocalhost example.org@localhost
`)
