import unittest

import dispenser


class Test(unittest.TestCase):
    def setUp(self):
        dispenser.settings["page"] = "/terms/accept"

    def ask(self, accepted, **form):
        user = dispenser.vestibule.User(id="1", name="Ada", columns={"terms_accepted": accepted})
        return dispenser.dispense(user, dispenser.vestibule.Request(form=form))

    def test_holds_people_at_the_terms(self):
        for form in ({}, {"accept": False}, {"accept": "true"}):
            self.assertEqual(self.ask(None, **form).fields["intent"], {"kind": "hold", "target": "/terms/accept", "prefixes": []})

    def test_lets_them_on_once_they_have_accepted(self):
        answer = self.ask(None, accept=True)
        self.assertEqual(answer.fields["intent"]["kind"], "done")
        self.assertEqual(answer.effects[0]["set_user"]["name"], "terms_accepted")
        self.assertEqual(self.ask("2026-05-04T12:00:00Z").fields["intent"]["kind"], "done")


if __name__ == "__main__":
    unittest.main()
