import unittest

import dispenser


class Test(unittest.TestCase):
    def setUp(self):
        dispenser.settings["page"] = "/upgrade"

    def ask(self, ends):
        user = dispenser.vestibule.User(id="1", name="Ada", columns={"trial_ends_at": ends})
        return dispenser.dispense(user, dispenser.vestibule.Request()).fields["intent"]

    def test_sends_those_whose_trial_has_ended_to_the_page_that_says_so(self):
        self.assertEqual(self.ask(1), {"kind": "redirect", "target": "/upgrade"})

    def test_lets_everybody_else_on(self):
        self.assertEqual(self.ask(1 << 40)["kind"], "done")
        self.assertEqual(self.ask(None)["kind"], "done")


if __name__ == "__main__":
    unittest.main()
