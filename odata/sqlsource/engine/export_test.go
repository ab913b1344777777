package engine

// PagesWithin is how many KiB of the file the first, the second and any other connection keep.
func PagesWithin(limit int64) [3]int {
	p := pagesWithin(limit)
	return [...]int{p.of(0), p.of(1), p.of(2)}
}

// Finds carries out a search in the form of ves_search.
var Finds = finds
