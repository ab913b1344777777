<?php
// An application that signs people in by itself, against the same users table as the host. It knows nothing of the host
// but the header that says who came.
session_set_cookie_params(['path' => getenv('APP_PATH') ?: '/', 'samesite' => 'Lax']);
session_start();
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$user = fn (string $email) => (function () use ($email) {
    $db = new PDO('sqlite:' . getenv('APP_DATABASE'));
    $row = $db->prepare('SELECT * FROM users WHERE email = ?');
    $row->execute([$email]);
    return $row->fetch(PDO::FETCH_ASSOC);
})();

if (str_ends_with($path, '/style.css')) {
    header('Content-Type: text/css');
    echo 'h1 { color: rgb(0, 112, 242) }';
    return;
}
if (str_ends_with($path, '/sign-in') && $_SERVER['REQUEST_METHOD'] === 'POST') {
    $row = $user($_POST['email']);
    if ($row && password_verify($_POST['password'], $row['password'])) {
        session_regenerate_id(true);
        $_SESSION['name'] = $row['name'];
        setcookie('format', substr($row['password'], 0, 4), ['path' => getenv('APP_PATH') ?: '/']);
        // As the application sees its own address.
        header('Location: ' . substr($path, 0, -strlen('sign-in')) . 'account', true, 303);
        return;
    }
    http_response_code(422);
}
header('Content-Type: text/html; charset=utf-8');
setrawcookie('prefs', '{"theme":"dark"}');
setrawcookie('place', 'Zürich');
$shown = fn (string $text) => htmlspecialchars($text, ENT_QUOTES);
?>
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>PHP</title><link rel="icon" href="data:,"><link rel="stylesheet" href="style.css"></head>
<body>
<h1>PHP</h1>
<p id="host">The host says: <?= $shown($_SERVER['HTTP_X_VESTIBULE_EMAIL'] ?? 'nobody') ?></p>
<p id="own">The application says: <?= $shown($_SESSION['name'] ?? 'nobody') ?></p>
<p id="cookies"><?= $shown($_SERVER['HTTP_COOKIE'] ?? '') ?></p>
<form method="post" action="sign-in">
<label>Email <input name="email"></label>
<label>Password <input name="password" type="password"></label>
<button>Sign in here</button>
</form>
</body>
</html>
