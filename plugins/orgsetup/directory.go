package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// errUnknown is returned when the directory does not have the organisation.
var errUnknown = errors.New("unknown organisation")

// A directory knows the numbers of organisations.
type directory interface {
	// register returns the number of an organisation, or errUnknown. The intent's
	// id is the same for every attempt at one step, so that a directory which
	// makes entries can tell a repeated request from a new one.
	register(ctx context.Context, form pluginsdk.OrgForm, intentID string) (int64, error)
}

func openDirectory(c config) (directory, error) {
	switch {
	case c.Directory != "":
		return openFile(c.Directory)
	case c.DirectoryURL != "":
		u, err := url.Parse(c.DirectoryURL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, pluginsdk.BadConfig("directory_url", "%q is no http URL: write it like https://crm.example.com/organisations", c.DirectoryURL)
		}
		return &service{url: c.DirectoryURL, client: &http.Client{Timeout: c.Timeout}}, nil
	}
	return derived{}, nil
}

// derived makes numbers from names, without a directory.
type derived struct{}

// register makes the same number for everybody who names the same organisation.
// It is below 2^53, which every JSON reader can hold.
func (derived) register(_ context.Context, form pluginsdk.OrgForm, _ string) (int64, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", form.LegalForm, fold(form.OrgName)))
	return int64(binary.BigEndian.Uint64(sum[:8])>>12) + 1, nil
}

// fold is a name without case and without repeated blanks.
func fold(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), " ") }

// A file is a directory that is read once.
type file map[string]int64

func openFile(path string) (file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, pluginsdk.BadConfig("directory", "it cannot be read: %v", err)
	}
	var entries map[string]int64
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, pluginsdk.BadConfig("directory", "%s is no JSON object of whole numbers by name: %v", path, err)
	}
	f := file{}
	for name, id := range entries {
		f[fold(name)] = id
	}
	return f, nil
}

func (f file) register(_ context.Context, form pluginsdk.OrgForm, _ string) (int64, error) {
	if id, ok := f[fold(form.OrgName)]; ok {
		return id, nil
	}
	return 0, errUnknown
}

// A service is a directory on the network.
type service struct {
	url    string
	client *http.Client
}

func (s *service) register(ctx context.Context, form pluginsdk.OrgForm, intentID string) (int64, error) {
	body, err := json.Marshal(map[string]any{
		"name": form.OrgName, "legal_form": form.LegalForm, "size": form.CompanySize, "billing_email": form.BillingEmail,
	})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", intentID)
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated:
	case http.StatusNotFound:
		return 0, errUnknown
	default:
		return 0, fmt.Errorf("it answered %s, not 200, 201 or 404", resp.Status)
	}
	var answer struct {
		PartnerID *int64 `json:"partner_id"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer); err != nil {
		return 0, fmt.Errorf("read its answer: %w", err)
	}
	if answer.PartnerID == nil {
		return 0, errors.New("its answer has no partner_id")
	}
	return *answer.PartnerID, nil
}
