package seed

// reviews writes what people say of products. Most authors have no account any more;
// a few reviews are by the demo account.
func reviews(w *writer) error {
	insert, err := w.into("reviews", "id", "product_id", "author_id", "author", "rating", "text", "created_at", "changed_at")
	if err != nil {
		return err
	}
	r := random(6)
	first, last, verdicts := firstNames(), lastNames(), verdicts()
	var mine int // the product that the demo account reviewed last
	for id := 1; id <= Reviews; id++ {
		product := 1 + min(r.IntN(Products), r.IntN(Products))
		rating := max(1+r.IntN(5), 1+r.IntN(5))
		var author any
		name := pick(r, first) + " " + pick(r, last)
		if id%400 == 0 {
			mine++
			product, author, name = mine, 1, Name
		}
		at := between(r).Format(second)
		if err := insert(id, product, author, name, rating, pick(r, verdicts[rating-1]), at, at); err != nil {
			return err
		}
	}
	return nil
}
