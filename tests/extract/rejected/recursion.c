struct node { struct node *next; double x; };
double f(struct node *p)
{
  if (!p->next) return p->x;
  return p->x + f(p->next);
}
