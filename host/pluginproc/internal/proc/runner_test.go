package proc

import (
	"errors"
	"testing"
)

func TestHandshakeIsRefusedForAReason(t *testing.T) {
	tests := []struct {
		name, line string
		want       error
	}{
		{"good", "1|1|unix|/run/s|grpc|", nil},
		{"with a certificate", "1|1|unix|/run/s|grpc|MIIB", nil},
		{"another protocol", "1|99|unix|/run/s|grpc|", &protocolError{}},
		{"another core", "2|1|unix|/run/s|grpc|", &protocolError{}},
		{"net/rpc", "1|1|unix|/run/s|netrpc|", errNetRPC},
		{"no kind, which means net/rpc", "1|1|unix|/run/s", errNetRPC},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !isHandshake(tt.line) {
				t.Fatal("it is not taken for a handshake")
			}
			err := checkHandshake(tt.line)
			var protocol *protocolError
			if wanted := errors.As(tt.want, &protocol); wanted != errors.As(err, &protocol) || !wanted && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
