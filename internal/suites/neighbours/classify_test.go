package neighbours

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sample is what a classifier sees, and what is true.
type sample struct {
	x     float64
	known bool
}

// rank puts the place in the order of all, from 0 to 1, in place of each number.
func rank(list []sample) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case list[i].x < list[j].x:
			return -1
		case list[i].x > list[j].x:
			return 1
		}
		return 0
	})
	for place, i := range order {
		list[i].x = float64(place) / float64(len(list))
	}
}

// folds is how many parts cross-validation makes: each is judged by what was learned from the others.
const folds = 10

// crossValidate is how often, from 0 to 1, a classifier is right about samples that it has not learned from. Known and
// unknown weigh the same.
func crossValidate(list []sample, train func([]sample) func(float64) bool) float64 {
	shuffled := slices.Clone(list)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	var right, of [2]float64
	for fold := range folds {
		var learn, judge []sample
		for i, s := range shuffled {
			if i%folds == fold {
				judge = append(judge, s)
			} else {
				learn = append(learn, s)
			}
		}
		says := train(learn)
		for _, s := range judge {
			class := 0
			if s.known {
				class = 1
			}
			of[class]++
			if says(s.x) == s.known {
				right[class]++
			}
		}
	}
	return (right[0]/of[0] + right[1]/of[1]) / 2
}

// threshold is the best cut between known and unknown, whichever of them is above.
func threshold(list []sample) func(float64) bool {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b sample) int { return int(math.Copysign(1, a.x-b.x)) })
	known := 0
	for _, s := range sorted {
		if s.known {
			known++
		}
	}
	best, cut, above := -1, 0.0, true
	below := 0 // known ones below the cut
	for i, s := range sorted {
		unknownBelow := i - below
		if right := unknownBelow + known - below; right > best {
			best, cut, above = right, s.x, true
		}
		if right := below + len(sorted) - known - unknownBelow; right > best {
			best, cut, above = right, s.x, false
		}
		if s.known {
			below++
		}
	}
	return func(x float64) bool { return (x >= cut) == above }
}

// regression is a logistic one on x, its square and its cube.
func regression(list []sample) func(float64) bool {
	features := func(x float64) [4]float64 { x = 2*x - 1; return [4]float64{1, x, x * x, x * x * x} }
	var w [4]float64
	p := func(x float64) float64 {
		var sum float64
		for i, f := range features(x) {
			sum += w[i] * f
		}
		return 1 / (1 + math.Exp(-sum))
	}
	for range 200 {
		var gradient [4]float64
		for _, s := range list {
			miss := p(s.x)
			if s.known {
				miss--
			}
			for i, f := range features(s.x) {
				gradient[i] += miss * f
			}
		}
		for i := range w {
			w[i] -= 2 * gradient[i] / float64(len(list))
		}
	}
	return func(x float64) bool { return p(x) > 0.5 }
}

// nearest goes by the majority of the 25 nearest.
func nearest(list []sample) func(float64) bool {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b sample) int { return int(math.Copysign(1, a.x-b.x)) })
	const k = 25
	return func(x float64) bool {
		at, _ := slices.BinarySearchFunc(sorted, x, func(s sample, x float64) int { return int(math.Copysign(1, s.x-x)) })
		lo, hi, known := at, at, 0
		for range min(k, len(sorted)) {
			if hi == len(sorted) || lo > 0 && x-sorted[lo-1].x < sorted[hi].x-x {
				lo--
				if sorted[lo].known {
					known++
				}
				continue
			}
			if sorted[hi].known {
				known++
			}
			hi++
		}
		return 2*known > min(k, len(sorted))
	}
}

// TestClassifiers holds that the classifiers find what is there, and nothing where nothing is: a difference of a tenth
// of the spread, one at both ends, and none.
func TestClassifiers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	make2000 := func(known func() float64) []sample {
		list := make([]sample, 2000)
		for i := range list {
			list[i] = sample{random.NormFloat64(), i%2 == 0}
			if list[i].known {
				list[i].x = known()
			}
		}
		rank(list)
		return list
	}
	slower := make2000(func() float64 { return random.NormFloat64() + 0.5 })
	wider := make2000(func() float64 { return 3 * random.NormFloat64() })
	same := make2000(random.NormFloat64)
	for name, train := range map[string]func([]sample) func(float64) bool{"threshold": threshold, "regression": regression, "neighbours": nearest} {
		if right := crossValidate(slower, train); right < mostRight {
			t.Errorf("%s is right in %.3f where known ones are slower", name, right)
		}
		if right := crossValidate(wider, train); right < mostRight {
			t.Errorf("%s is right in %.3f where known ones scatter", name, right)
		}
		if right := crossValidate(same, train); right > mostRight {
			t.Errorf("%s is right in %.3f where there is nothing to see", name, right)
		}
	}
}
