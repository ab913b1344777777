//go:build !linux

package proc

// reap waits for the end of the process and ends its group.
func (r *runner) reap() error {
	err := r.cmd.Wait()
	close(r.dead)
	r.killGroup()
	return err
}

// tagged does nothing: what leaves the group of a plugin is not found here.
func tagged(int) uint64 { return 0 }

// beFirstToGo does nothing: only Linux lets a process choose.
func beFirstToGo(int) {}
