package admission

// Remembered is how many clients the queue knows.
func (q *Queue) Remembered() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.clients)
}
