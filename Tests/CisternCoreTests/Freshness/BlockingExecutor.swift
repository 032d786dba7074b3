import Dispatch
import Locking

/// Runs each job on a thread, to its end: a fetch that does not suspend has ended when its task has been started.
final class BlockingExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let end = DispatchSemaphore(value: 0)
    do {
      // The executor lives as long as the job, because the task holds it.
      try SystemThread.start { [self] in
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        end.signal()
      }
    } catch {
      fatalError("a thread could not be started: \(error)")
    }
    end.wait()
  }
}
