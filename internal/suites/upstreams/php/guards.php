<?php
// An application that finds its pages as many in PHP do: the path decoded, in lower case,
// without blanks around it.
$path = trim(strtolower(rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) ?: '')));
$who = 'who=' . ($_SERVER['HTTP_REMOTE_USER'] ?? 'nobody');
$page = match (rtrim($path, '/')) {
    '/front/admin', '/front/admin/users' => 'the admin page',
    '/register' => 'the register page',
    default => 'an open page',
};
echo "$page, $who";
