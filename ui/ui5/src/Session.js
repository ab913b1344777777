sap.ui.define(['vestibule/box', 'vestibule/faults', 'vestibule/leaving', 'vestibule/refusals', 'vestibule/words'], (box, faults, leaving, refusals, words) => {
  'use strict';

  const quiet = 5_000; // milliseconds for which the answer "the session is all right" counts
  const patience = 60_000; // and those for which somebody who stays is not asked again
  const going = 10_000; // and those within which the page is gone, unless the way to the sign-in was called off

  const watched = new Set(); // of { component, options }
  let requests = null; // what observes the requests, while somebody watches
  let silence = null; // ends what tells of faults
  let asking = null; // the question under way, a promise
  let silentUntil = 0;
  let allRightUntil = 0;
  let leftAt = -Infinity;

  // A page that comes out of the browser's cache has not been left.
  addEventListener('pageshow', (event) => {
    if (event.persisted) leftAt = -Infinity;
  });

  /** All models that the manifest of a component names, and those of its options. */
  function models({ component, options }) {
    const names = Object.keys(component.getManifestEntry('/sap.ui5/models') ?? {});
    return [...names.map((name) => component.getModel(name || undefined)), ...(options.models ?? [])].filter(Boolean);
  }

  function unsaved() {
    return [...watched].some((one) => one.options.unsaved?.() || models(one).some((model) => model.hasPendingChanges?.()));
  }

  function leave() {
    leftAt = Date.now();
    leaving.signIn();
  }

  /** Lets the person decide: what they typed would be lost, or the sign-in leads straight back. */
  async function decide(title, text, anotherTab) {
    const elsewhere = words('ui5.session.otherTab');
    const here = words('ui5.session.signIn');
    const answers = [...(anotherTab ? [elsewhere] : []), here, words('ui5.session.stay')];
    // The other tab needs a click of its own, lest the browser block it: the browser's box cannot lead there.
    const answer = await box.ask('warning', { title, text, answers, plain: here });
    if (answer === here) leave();
    if (answer === elsewhere) open('/login', '_blank', 'noopener');
    silentUntil = Date.now() + patience;
  }

  async function ask() {
    let state;
    try {
      const answer = await requests.ask('/auth/bootstrap');
      state = answer.ok ? (await answer.json()).session : undefined;
    } catch {
      state = undefined; // there is no network, or no JSON: nobody is sent away for that
    }
    if (!['guest', 'ended', 'open', 'held'].includes(state)) {
      if (state === 'settled') allRightUntil = Date.now() + quiet;
      return false;
    }
    const step = state === 'open' || state === 'held';
    const title = words(step ? 'ui5.session.stepTitle' : 'ui5.session.title');
    if (unsaved()) {
      await decide(title, words(step ? 'ui5.session.stepUnsaved' : 'ui5.session.unsaved'), true);
    } else if (leaving.goesInCircles()) {
      await decide(title, words('ui5.session.circle'), false);
    } else {
      leave();
    }
    return true;
  }

  /**
   * Asks the host what has become of the session, once for all who ask meanwhile, and leads to the sign-in or to the open
   * step. Resolves with whether the session was at fault: nothing else needs to be said then.
   */
  function check() {
    if (Date.now() < leftAt + going || Date.now() < silentUntil) return Promise.resolve(true);
    if (Date.now() < allRightUntil || !requests) return Promise.resolve(false);
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  }

  return {
    /**
     * Watches over a component: its session, and the faults of its models. Call it in init, after that of UIComponent.
     *
     * Options, all of them optional: `models`, further models than those of the manifest; `unsaved`, a function that tells
     * whether the person has typed something that no model knows of; `own`, the HTTP statuses that the application speaks of
     * itself, such as [404]; `told`, a function that gets each of these faults, `{ status, code, text, id }`; `messages`, false
     * for no boxes about faults.
     *
     * Returns a function that ends it.
     */
    watch(component, options = {}) {
      const one = { component, options };
      watched.add(one);
      requests ??= refusals(check);
      box.prepare();
      silence ??= faults({ watched, models, unsaved, check });
      return () => {
        watched.delete(one);
        if (watched.size === 0) {
          silence?.();
          requests?.stop();
          silence = requests = null;
        }
      };
    },

    /** Signs out, once the person has agreed to lose what they have not saved. */
    async signOut() {
      const out = words('ui5.session.signOut');
      const question = { title: out, text: words('ui5.session.signOutUnsaved'), answers: [out, words('ui5.session.stay')] };
      if (unsaved() && (await box.ask('warning', question)) !== out) return;
      leaving.signOut();
    },
  };
});
