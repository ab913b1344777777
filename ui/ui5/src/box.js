sap.ui.define([], () => {
  'use strict';

  let loading = null;

  /**
   * Loads what shows boxes: few people ever see one, so that the first screen does not wait for it. Resolves with
   * sap/m/MessageBox, or with null where it cannot be loaded, as when the session has ended before.
   */
  const load = () => {
    loading ??= new Promise((resolve) => {
      sap.ui.require(['sap/m/MessageBox'], resolve, () => {
        loading = null;
        resolve(null);
      });
    });
    return loading;
  };

  return {
    /** Loads it in good time, once the browser has time for it. */
    prepare: () => setTimeout(() => (globalThis.requestIdleCallback ?? setTimeout)(() => void load()), 3_000),

    /**
     * Shows a text until the person has chosen one of the answers, of which the first stands out, and resolves with it, or
     * with null. Severity is 'error' or 'warning'. Where only the browser's own box is to be had, which asks for yes or no,
     * it asks for `plain`.
     */
    async ask(severity, { title, text, answers, plain = answers[0], details = '' }) {
      const box = await load();
      if (!box) return globalThis.confirm(`${title}\n\n${text}\n\n${plain}?`) ? plain : null;
      return new Promise((resolve) => {
        box[severity](text, {
          title,
          details: details.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`), // it would be read as HTML
          actions: answers,
          emphasizedAction: answers[0],
          onClose: (answer) => resolve(answers.includes(answer) ? answer : null),
        });
      });
    },
  };
});
