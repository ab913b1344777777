package seed

// department is a top-level category with what is sold in it.
type department struct {
	name  string
	kinds []kind
}

// kind is a category of products: its name, what one product of it is called,
// a middling price in euros, and a weight in grams, 0 for "not stated".
type kind struct {
	name, noun string
	price      int
	grams      int
}

func departments() []department {
	return []department{
		{"Tents & shelters", []kind{
			{"Dome tents", "Dome Tent", 320, 3200},
			{"Tunnel tents", "Tunnel Tent", 480, 3900},
			{"Ultralight tents", "Ultralight Tent", 560, 1100},
			{"Tarps", "Tarp", 140, 700},
			{"Bivy bags", "Bivy Bag", 160, 500},
			{"Tent pegs", "Tent Pegs", 22, 200},
		}},
		{"Packs & bags", []kind{
			{"Day packs", "Day Pack", 95, 800},
			{"Trekking packs", "Trekking Pack", 220, 1900},
			{"Climbing packs", "Climbing Pack", 140, 900},
			{"Travel bags", "Duffel", 110, 1200},
			{"Dry bags", "Dry Bag", 28, 100},
		}},
		{"Sleeping", []kind{
			{"Down sleeping bags", "Down Sleeping Bag", 390, 900},
			{"Synthetic sleeping bags", "Sleeping Bag", 150, 1500},
			{"Sleeping mats", "Sleeping Mat", 130, 500},
			{"Hammocks", "Hammock", 80, 600},
			{"Pillows", "Pillow", 32, 100},
		}},
		{"Clothing", []kind{
			{"Rain jackets", "Rain Jacket", 240, 400},
			{"Down jackets", "Down Jacket", 260, 400},
			{"Fleece", "Fleece", 110, 300},
			{"Base layers", "Merino Shirt", 75, 200},
			{"Trousers", "Trousers", 120, 400},
			{"Gloves", "Gloves", 45, 100},
			{"Hats", "Beanie", 30, 100},
		}},
		{"Footwear", []kind{
			{"Hiking boots", "Hiking Boots", 230, 1200},
			{"Trail shoes", "Trail Shoes", 150, 600},
			{"Sandals", "Sandals", 90, 500},
			{"Gaiters", "Gaiters", 55, 200},
			{"Socks", "Socks", 20, 0},
		}},
		{"Camp kitchen", []kind{
			{"Gas stoves", "Gas Stove", 85, 300},
			{"Wood stoves", "Wood Stove", 70, 800},
			{"Cookware", "Pot Set", 65, 600},
			{"Mugs", "Mug", 18, 100},
			{"Water filters", "Water Filter", 60, 200},
			{"Bottles", "Bottle", 25, 200},
		}},
		{"Climbing", []kind{
			{"Ropes", "Rope", 190, 3800},
			{"Harnesses", "Harness", 90, 400},
			{"Carabiners", "Carabiner", 16, 100},
			{"Helmets", "Helmet", 80, 300},
			{"Ice axes", "Ice Axe", 150, 500},
		}},
		{"Light & navigation", []kind{
			{"Head torches", "Head Torch", 60, 100},
			{"Lanterns", "Lantern", 45, 300},
			{"Compasses", "Compass", 40, 100},
			{"Maps", "Map", 15, 0},
			{"Knives", "Knife", 70, 100},
			{"First aid", "First Aid Kit", 35, 400},
		}},
	}
}

// lines are the product lines, named after places in many scripts.
func lines() []string {
	return []string{
		"Säntis", "Großglockner", "Zugspitze", "Watzmann", "Brocken", "Matterhorn", "Dachstein", "Ötztal",
		"Lofoten", "Tromsø", "Jämtland", "Åre", "Kebnekaise", "Þingvellir", "Snæfell", "Saana",
		"Ben Nevis", "Skye", "Snowdon", "Sliabh Liag", "Dartmoor", "Aneto", "Teide", "Peñalara",
		"Mont Aiguille", "Écrins", "Vercors", "Étretat", "Gran Paradiso", "Marmolada", "Açores", "Gerês",
		"Rysy", "Śnieżka", "Łeba", "Kráľova hoľa", "Fatra", "Krkonoše", "Triglav", "Durmitor",
		"Musala", "Retezat", "Făgăraș", "Όλυμπος", "Κρήτη", "Ağrı Dağı", "Карпаты", "Эльбрус",
		"Rainier", "Denali", "Yosemite", "Tuolumne", "Aconcagua", "Ñandú", "Huascarán", "Roraima",
		"富士", "北岳", "한라산", "玉山", "Annapurna", "K2", "Aoraki", "Kilimanjaro",
	}
}

func variants() []string {
	return []string{"", "II", "Light", "Pro", "XL", "Kids", "Eco", "Winter", "Trail", "Alpine", "Classic", "Compact"}
}

func colors() []string {
	return []string{"moss", "slate", "ochre", "night blue", "rust", "sand", "pine", "glacier"}
}

// praise and use make descriptions.
func praise() []string {
	return []string{
		"Made to last and easy to mend.", "Our lightest of its kind.", "Tested for a winter in Jämtland.",
		"Recycled fabric, free of fluorocarbons.", "Small in the pack, at home in bad weather.",
		"A favourite since our first year.", "Simple, tough, and quiet in the wind.", "Spare parts for ten years.",
	}
}

func uses() []string {
	return []string{
		"For long days above the tree line.", "For weekends in the hills.", "For the way to work and the way beyond.",
		"Für Hüttentouren und alles dazwischen.", "Pour les longues randonnées.", "For cold nights and early starts.",
		"For a first tour or the fiftieth.", "For rivers, coasts, and rain.",
	}
}

// verdicts are the texts of reviews, by rating.
func verdicts() [][]string {
	return [][]string{
		{"Broke on the second day.", "Nass bis auf die Haut.", "Came without half of its parts."},
		{"Heavier than it says.", "The zip sticks.", "Nach einem Sommer ausgeblichen."},
		{"Does what it should.", "Good, but loud in the wind.", "Correct pour le prix."},
		{"Light, and well made.", "Hat drei Wochen Schottland überstanden.", "One size larger would have been better."},
		{"Would buy it again.", "Mein treuester Begleiter.", "Parfait, même sous la pluie.", "Ten years old and still going."},
	}
}

func firstNames() []string {
	return []string{
		"Aino", "Björn", "Chloé", "Dilek", "Élodie", "Fatima", "Grace", "Hòa", "Ingrid", "José", "Katarzyna", "Lukáš",
		"Mei", "Noor", "Ólafur", "Priya", "Quentin", "Renée", "Søren", "Thérèse", "Ursula", "Váňa", "Wiebke", "Zoë",
	}
}

func lastNames() []string {
	return []string{
		"Andersson", "Brûlé", "Çelik", "D'Angelo", "Eriksen", "Fjord", "García", "Hoffmann", "Ivanova", "Jónsdóttir",
		"Kovač", "Łukasik", "Müller", "Nguyễn", "O'Brien", "Papadópoulos", "Quispe", "Ruiz-López", "Schröder", "Tanaka",
		"Ulrich", "van der Berg", "Wójcik", "Yıldız", "Zieliński", "Ångström", "Østergaard", "Škoda", "Weiß",
	}
}

// city is where customers live.
type city struct{ name, zip, country string }

func cities() []city {
	return []city{
		{"Berlin", "10115", "DE"},
		{"München", "80331", "DE"},
		{"Köln", "50667", "DE"},
		{"Leipzig", "04109", "DE"},
		{"Zürich", "8001", "CH"},
		{"Genève", "1201", "CH"},
		{"Wien", "1010", "AT"},
		{"Graz", "8010", "AT"},
		{"Paris", "75001", "FR"},
		{"Lyon", "69001", "FR"},
		{"København", "1050", "DK"},
		{"Århus", "8000", "DK"},
		{"Oslo", "0150", "NO"},
		{"Göteborg", "411 03", "SE"},
		{"Kraków", "30-001", "PL"},
		{"Plzeň", "301 00", "CZ"},
		{"A Coruña", "15001", "ES"},
		{"Dublin", "D01", "IE"},
		{"Edinburgh", "EH1 1BB", "GB"},
		{"Utrecht", "3511", "NL"},
	}
}

func streets() []string {
	return []string{"Main Street", "Bahnhofstraße", "Rue de l'Église", "Calle Mayor", "Storgatan", "Na Příkopě", "Ulica Długa", "Kirkegata"}
}

// firms are suppliers' names without the legal form.
func firms() []string {
	return []string{
		"Nordwind", "Alpenglück", "Fjell & Fjord", "Bergauf", "Hochwald", "Sólheimar", "Montagne Bleue", "Sierra Clara",
		"Vltava Works", "Tatra Tech", "Rügen Outdoor", "Öresund Textil", "Loch & Glen", "Basalt", "Karst", "Granit",
		"Moraine", "Firn", "Geröll", "Schwarzwald Metall",
	}
}
