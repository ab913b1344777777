//go:build !linux

package proc

// reap waits for the end of the process and ends its group.
func (r *runner) reap() error {
	err := r.cmd.Wait()
	close(r.dead)
	r.killGroup()
	return err
}

// beFirstToGo does nothing: only Linux lets a process choose.
func beFirstToGo(int) {}
