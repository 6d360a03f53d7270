/** Who uses the console, and what concerns this browser only. */

import { Button as AriaButton } from 'react-aria-components/Button'
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { type Me, signOut } from '../api/session.ts'
import { THEMES, useTheme } from '../ui/theme.ts'

const THEME_NAMES = { system: 'As the system', light: 'Light', dark: 'Dark' }

export function AccountMenu({ me, onKeys }: Readonly<{ me: Me; onKeys(): void }>) {
  const [theme, setTheme] = useTheme()
  const isOpen = me.mode === 'open'
  const name = me.name ?? (isOpen ? 'Open access' : me.who)
  return (
    <MenuTrigger>
      <AriaButton className="button quiet account">
        <span className="visually-hidden">Account: </span>
        <span className="account-name" dir="auto">
          {name}
        </span>
        <span className="quiet wide-only">{isOpen ? 'no keys' : me.roles.join(', ')}</span>
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <p className="popover-text">
          {isOpen
            ? 'The service asks for no key: every caller on its machine may do everything.'
            : `${me.who} · ${me.roles.join(', ')}`}
        </p>
        <Menu
          className="menu"
          onAction={(action) => {
            if (action === 'keys') onKeys()
            if (action === 'out') signOut()
          }}
        >
          <MenuItem id="keys" className="menu-item between">
            List of keys
          </MenuItem>
          <MenuSection
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[theme]}
            onSelectionChange={(keys) => setTheme(THEMES.find((one) => keys !== 'all' && keys.has(one)) ?? 'system')}
          >
            <Header className="menu-heading">Colours</Header>
            {THEMES.map((one) => (
              <MenuItem key={one} id={one} textValue={THEME_NAMES[one]} className="menu-item between">
                {THEME_NAMES[one]}
                {one === theme && <span aria-hidden="true">✓</span>}
              </MenuItem>
            ))}
          </MenuSection>
          {isOpen ? null : (
            <MenuItem id="out" className="menu-item between">
              Sign out
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
