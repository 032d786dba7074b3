import Locking

/// Runs each job on a new thread. A job that blocks its thread then blocks none of the shared pool.
package final class ThreadPerJob: TaskExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    do {
      // The executor lives as long as the job, because the task holds it.
      try SystemThread.start { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    } catch {
      fatalError("a thread could not be started: \(error)")
    }
  }
}
