package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/vestibule-dev/vestibule/pluginsdk"
)

// register asks the directory for the organisation's number. The request carries
// the intent's id, so that a directory can tell a repeated request from a new one.
func (o *orgs) register(ctx context.Context, form pluginsdk.OrgForm, intentID string) (int64, error) {
	body, err := json.Marshal(map[string]any{
		"name": form.OrgName, "legal_form": form.LegalForm, "size": form.CompanySize, "billing_email": form.BillingEmail,
	})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.config.DirectoryURL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", intentID)
	resp, err := o.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return 0, fmt.Errorf("it answered %s, want 200 or 201", resp.Status)
	}
	var answer struct {
		PartnerID int64 `json:"partner_id"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer); err != nil {
		return 0, fmt.Errorf("read its answer: %w", err)
	}
	if answer.PartnerID == 0 {
		return 0, fmt.Errorf("its answer has no partner_id")
	}
	return answer.PartnerID, nil
}
