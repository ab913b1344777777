// Answers with what it was told, for the tests of vestibule.js.
const v = require('../vestibule')

const text = (value) => JSON.stringify(value, (_, x) => typeof x === 'bigint' ? `${x}n` : x)

function dispense(user, request) {
  switch (user.name) {
    case 'throw': throw new Error('no decision')
    case 'reject': return Promise.reject(new Error('no decision'))
    case 'nothing': return undefined
    case 'wrong': return v.satisfied()
    case 'large': return v.done().with(v.setSession('x', 'ü'.repeat(8193)))
    case 'full': return v.done().with(v.setSession('b', 'x'.repeat(16384)), v.setSession('n', 1))
    case 'freed': return v.done().with(v.setSession('b', 'x'.repeat(16384)), v.setSession('a', null))
    case 'type': return v.done().with(v.setSession('x', {}))
    case 'range': return v.done().with(v.setSession('x', 2n ** 64n))
    case 'time': {
      const at = new Date('2026-01-31T13:00:00+01:00')
      return v.done().with(v.setUser('at', at), v.setSession('at', at), v.setUser('was', null, { replacing: at }))
    }
    case 'text': return v.done().with(v.setUser('x', '\ud800'))
    case 'nan': return v.done().with(v.setUser('x', NaN))
    case 'huge': return v.done().with(v.setUser('x', 'x'.repeat(1 << 20)))
    case 'number': return v.redirect(7)
    case 'payload': return v.redirect('/held').hold().needsMoreInput({ message: new Date('2026-01-31T12:00:00Z') })
    case 'background':
      setTimeout(() => { Promise.reject(new Error('late')) }, 10)
      return new Promise((resolve) => setTimeout(() => resolve(v.done()), 100))
    case 'log':
      console.log('printed')
      v.log.warn('logged', { key: 1n })
      return v.done()
    case 'done': return v.done()
    case 'mail': return v.done().with(v.mail('greeting', { link: '/a?b=ü', name: 'Ada 👩‍🚀' }), v.mail('plain'))
    case 'wordy': return v.done().with(v.mail('greeting', { link: 'ü'.repeat(513) }))
    case 'lines': return v.done().with(v.mail('greeting', { link: 'a\nb' }))
    case 'texts': return v.done().with(v.mail('greeting', Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`t${i}`, 'x']))))
    case 'setup': return v.orgSetup('Ada 👩‍🚀')
    case 'hold': return v.redirect('/held').hold('/assets', '/ü').with(v.setUser('a', 5, { replacing: null }), v.setUser('b', null, { replacing: 4n }))
    case 'more': return v.redirect('/held').with(v.consumeIntended()).hold().needsMoreInput({ message: 'ü' })
    case 'refuse': return v.redirect('/held').hold().failed('no', String(request.form.code))
    case 'recover': return v.redirect('/held').hold().offerRecovery().failed('no').asRecovery()
    case 'recovered': return v.done().asRecovery().with(v.setSession('a', 1))
    case 'unoffered': return v.redirect('/held').offerRecovery()
    case 'unheld': return v.redirect('/held').failed('no')
  }
  const effects = Object.entries(user.columns).map(([name, value]) => v.setUser(name, value))
  return v.redirect('/' + text({ user, request })).with(v.consumeIntended(), v.setSession('n', 1), ...effects)
}

function handle(user, request) {
  switch (request.form.org_name) {
    case 'more': return v.needsMoreInput({ fields: { billing_email: ['required'] }, message: 'ü' })
    case 'no': return v.failed('no', 'ü')
  }
  return v.satisfied().with(v.setUser('partner_id', 9223372036854775807n))
}

function notify(event) {
  const { id, kind, user, at } = event
  if (user.name === 'sets') return [v.setUser('a', 5), v.setUser('b', null, { replacing: 4n }), v.mail('greeting', { link: '/a' })]
  if (user.name === 'session') return [v.setSession('a', 5)]
  if (user.name === 'wordy') return [v.mail('greeting', { link: 'x'.repeat(1025) })]
  if (user.name === 'wrong') return v.done()
  if (user.name === 'throw') throw new Error(`not now: ${id} ${kind} ${user.id} ${at.toISOString()}`)
}

const address = 'https://provider.example.com/authorize'

function begin(request) {
  switch (request.login_hint) {
    case 'throw': throw new Error('no provider')
    case 'nothing': return undefined
    case 'wrong': return v.refused()
    case 'plain': return v.authorization('http://provider.example.com/')
    case 'long': return v.authorization(address, 'x'.repeat(2049))
    case 'local': return v.authorization('http://[::1]:8080/authorize', new Uint8Array([0, 255]))
    case 'bare': return v.authorization(address)
  }
  return v.authorization(address + '?state=' + request.state, text(request))
}

function finish(request) {
  const somebody = v.identified({ subject: 's1' })
  switch (request.parameters.way) {
    case 'throw': throw new Error('no provider')
    case 'nothing': return undefined
    case 'wrong': return v.authorization(address)
    case 'refuse': return v.refused('ü ' + request.private)
    case 'refuse-silently': return v.refused()
    case 'refuse-long': return v.refused('ü'.repeat(129))
    case 'refuse-sets': return v.refused().with(v.setUser('a', 1))
    case 'nobody': return v.identified({ subject: '' })
    case 'number': return v.identified({ subject: 7 })
    case 'claim': return v.identified({ subject: 's1', email_verified: 'false' })
    case 'unclear': return v.identified({ subject: 's1', auth_time: 'today' })
    case 'far': return v.identified({ subject: 's1', auth_time: 2 ** 66 })
    case 'misspelt': return v.identified({ subject: 's1', emailVerified: true })
    case 'session': return somebody.with(v.setSession('a', 1))
    case 'replaces': return somebody.with(v.setUser('a', 1, { replacing: 2 }))
    case 'mail': return somebody.with(v.mail('greeting'))
    case 'bare': return somebody
    case 'seconds': return v.identified({ subject: 's1', email: null, auth_time: 2 ** 33 })
  }
  const who = { subject: 's1', email: 'ada@example.com', email_verified: true, name: 'Ada 👩‍🚀', auth_time: new Date('2026-01-31T13:00:00+01:00') }
  return v.identified(who).with(v.setUser('told', text({ ...request, private: [...request.private] })))
}

function validate(changes, user) {
  const [first] = changes
  switch (user.name) {
    case 'throw': throw new Error('no verdict')
    case 'nothing': return undefined
    case 'wrong': return v.done()
    case 'accept': return v.accept()
    case 'refuse': return v.refuse(0, 'price', 'too low: ü').refuse(1, '', 'no').amend(0, 'price', 1)
    case 'many': return changes.reduce((verdict, _, i) => verdict.refuse(i, '', 'no').refuse(i, '', 'again'), v.accept())
    case 'amend':
      return v.amend(0, 'price', first.new.price).amend(0, 'id', first.new.id).amend(0, 'address/city', 'Ely ü').amend(0, 'note', null)
        .amend(0, 'urgent', true).amend(0, 'rate', -1.25).amend(0, 'at', new Date('2026-01-31T13:00:00+01:00'))
    case 'beyond': return v.refuse(2, '', 'no')
    case 'negative': return v.amend(-1, 'price', 1)
    case 'half': return v.refuse(0.5, '', 'no')
    case 'unknown': return v.refuse(0, 'Price', 'no')
    case 'complex': return v.amend(0, 'address', null)
    case 'nowhere': return v.amend(0, '', 1)
    case 'deleted': return v.amend(1, 'price', 1)
    case 'empty': return v.refuse(0, 'price', '')
    case 'long': return v.refuse(0, 'price', 'ü'.repeat(513))
    case 'lines': return v.refuse(0, 'price', 'a\nb')
    case 'number': return v.refuse(0, 'price', 7)
    case 'type': return v.amend(0, 'price', {})
    case 'nan': return v.amend(0, 'price', NaN)
    case 'often': return Array.from({ length: 10001 }).reduce((verdict) => { verdict.fields.amendments.push({ change: 0, property: 'price', value: 1 }); return verdict }, v.accept())
    case 'large': return v.amend(0, 'note', 'x'.repeat(1 << 20))
    case 'mutate':
      first.new = null
      return v.amend(0, 'price', 1)
  }
  return first.new?.count === undefined ? v.accept() : v.amend(0, 'note', text({ changes, user }))
}

v.serve({
  name: 'echo', version: '3', description: 'Echoes.', title: 'Echo', offersStep: true, dispense, handle, notify, begin, finish, validate,
  config: {
    must: { type: 'string', required: true }, number: { type: 'int', default: 3 }, list: { type: 'list', default: [] },
    mood: { type: 'string', default: 'plain', oneof: ['plain', 'loud'], doc: 'How.' }, rate: { type: 'float' },
  },
  configure: (config, setup) => {
    if (config.must === 'told') throw new v.BadConfig('must', `${setup.public_url} ${setup.mails}`)
    if (config.list.length > 1) throw new v.BadConfig('list[1]', 'one is enough')
    if (config.must === 'fail') throw new Error('the database does not answer')
  },
})
