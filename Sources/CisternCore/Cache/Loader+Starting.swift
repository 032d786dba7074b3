extension Loader {
  /// Starts the task of a flight on the executor of the store.
  @inlinable
  @inline(never)
  func startOnExecutor(_ flight: Flight<Value>, for request: Request, priority: TaskPriority) {
    flight.work.attach(
      Task(executorPreference: flightOptions.taskExecutor, priority: priority) { [self] in
        await run(flight, for: request)
      })
  }

  /// Notes that the fetch of a flight begins, after the look-up in the second tier.
  @inlinable
  func noteFetch(by flight: Flight<Value>) {
    if let partition = secondTier?.partition { flight.noteFetch(tierVersion: partition.invalidationVersion) }
  }
}
