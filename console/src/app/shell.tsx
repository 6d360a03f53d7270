/** The frame of all pages: who uses them, where they are, and how the service is. */
import { Link, Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { type Me, session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { useLiveUpdates } from '../live/live-updates.tsx'
import { Button } from '../ui/controls/button.tsx'
import { Icon } from '../ui/controls/icon.tsx'
import { useKey } from '../ui/keys/keymap.ts'
import { NoticeRegion } from '../ui/states/notices.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommandPalette } from './command-palette.tsx'
import { NAVIGATION } from './navigation.ts'
import { ServiceBar, ServiceLamp } from './service-state.tsx'
import { SignInDialog, SignInPage, StartingPage } from './sign-in.tsx'

const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))

/** A page that somebody works on stays unchanged while the service wants another key. */
export function Shell() {
  const now = useStore(session)
  if (now.state === 'known') return <Frame me={now.me} />
  if (now.state !== 'refused') return <StartingPage isAway={now.state === 'away'} />
  if (now.me === undefined) return <SignInPage why={now.why} />
  return (
    <>
      <Frame me={now.me} />
      <SignInDialog why={now.why} />
    </>
  )
}

function Frame({ me }: Readonly<{ me: Me }>) {
  const [open, setOpen] = useState<'palette' | 'keys'>()
  useLiveUpdates()
  useKey('Control+k', 'Go to a page or an endpoint', () => setOpen('palette'))
  useKey('?', 'List of keys', () => setOpen('keys'))
  const close = () => setOpen(undefined)
  const rows = NAVIGATION.filter(({ needs }) => me.may.includes(needs))
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className="top-bar row">
        <Link to="/" className="brand">
          <img src={icon} alt="" width="24" height="24" />
          <span className="brand-name">Crosswalk</span>
        </Link>
        <ServiceLamp />
        <div className="row end-row">
          <Button tone="quiet" keys="Control+K" onPress={() => setOpen('palette')}>
            Go to … <kbd className="wide-only">Ctrl K</kbd>
          </Button>
          <AccountMenu me={me} onKeys={() => setOpen('keys')} />
        </div>
      </header>
      <nav className="navigation nav" aria-label="Pages">
        {[...Map.groupBy(rows, ({ group }) => group)].map(([group, pages]) => (
          <div key={group} className="navigation-group">
            <p className="navigation-heading">{group}</p>
            {pages.map(({ to, title, icon: name }) => (
              <Link key={to} to={to} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
                <Icon name={name} />
                {title}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <ServiceBar />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <NoticeRegion />
      {open === 'palette' && <CommandPalette me={me} onClose={close} />}
      <Suspense>{open === 'keys' && <KeyList onClose={close} />}</Suspense>
    </div>
  )
}

const icon = new URL('../../icon.svg', import.meta.url).pathname
