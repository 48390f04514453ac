"""Changes accepted but not done: /jobs/1 tells how far one is, and then leads to the record."""

from .messages import Answer
from .problems import problem
from .query import NONE, Query


def accepted(request, change):
    """A 202 that says where to ask."""
    job = request.space.accept(change)
    headers = {"Content-Location": request.links.href("jobs", job.id), **retry(request)}
    return Answer(202, {"data": resource(request, job)}, headers)


def read(request):
    Query(request.query, NONE, ())
    job = next((one for one in request.space.jobs if one.id == request.path[1]), None)
    if job is None:
        raise problem(404, "not-found", f"There is no job {request.path[1]}")
    if job.polls > 0:
        job.polls -= 1
        return Answer(200, {"data": resource(request, job)}, retry(request))
    if not job.is_completed:
        job.is_completed = True
        record = request.space.change(job.change)
        job.result = record and record.key
    if job.result:
        return Answer(303, None, {"Location": request.links.href(*job.result)})
    return Answer(200, {"data": resource(request, job)})


def retry(request):
    return {"Retry-After": str(request.space.settings["retryAfter"])}


def resource(request, job):
    attributes = {"status": "completed" if job.is_completed else "pending"}
    links = request.links.object({"self": request.links.link("jobs", job.id)})
    return {"type": "jobs", "id": job.id, "attributes": attributes, **links}
