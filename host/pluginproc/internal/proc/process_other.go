//go:build !linux

package proc

import "syscall"

// attributes put a process into a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the end of the process and ends its group.
func (r *runner) reap() error {
	err := r.cmd.Wait()
	close(r.dead)
	r.killGroup()
	return err
}

// endUsers does nothing: plugins end with their lifeline here.
func endUsers(string) int { return 0 }

// reapOrphans does nothing: only containers have hosts as process 1.
func reapOrphans(<-chan struct{}) {}

// residentMemory returns 0: other systems have no /proc.
func residentMemory(int) int64 { return 0 }

// beFirstToGo does nothing: only Linux lets a process choose.
func beFirstToGo(int) {}
