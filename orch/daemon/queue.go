package daemon

import "sync"

// queues runs jobs of one name one after the other, and those of different names beside each other. A
// goroutine lives only as long as its queue has jobs.
type queues struct {
	mu      sync.Mutex
	waiting map[string][]func()
	running sync.WaitGroup
}

// add puts a job at the end of the queue of that name.
func (q *queues) add(name string, job func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[string][]func(){}
	}
	jobs, busy := q.waiting[name]
	q.waiting[name] = append(jobs, job)
	if !busy {
		q.running.Add(1)
		go q.drain(name)
	}
}

func (q *queues) drain(name string) {
	defer q.running.Done()
	for {
		q.mu.Lock()
		jobs := q.waiting[name]
		if len(jobs) == 0 {
			delete(q.waiting, name)
			q.mu.Unlock()
			return
		}
		q.waiting[name] = jobs[1:]
		q.mu.Unlock()
		jobs[0]()
	}
}

// wait returns when every job has ended. No job may be added meanwhile.
func (q *queues) wait() { q.running.Wait() }
